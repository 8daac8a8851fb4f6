#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_file.h"
#include "app/compute/layer/resources.h"
#include "app/platform/canvas.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/scene.h"
#include "app/shell/figure_request.h"
#include "app/widgets/view.h"
#include "attention/core/result.h"

namespace headscope::app {

/// An A4 sheet, and the place of the view's picture on it.
inline constexpr Frame kHandoutSheet{0, 0, 1460, 2064}, kHandoutPicture{90, 90, 1280, 720};
inline const PictureSize kHandoutSize{.width = Length{210, true}};

/// Returns one page per view of the scene's talk, or one for the scene if it has no talk. `name` is its
/// file's.
std::vector<FigurePage> handoutPages(const Scene& scene, const std::string& name);
/// Returns one page per step. With `answers`, pages show the scene after the question and reveal the right
/// option.
std::vector<FigurePage> handoutPages(const std::shared_ptr<const Lesson>& lesson, bool answers);

/// Returns the text for a step. Call on a worker. Returns the errors of studyStep().
attention::Result<HandoutWords> handoutWords(const HandoutStep& step, Resources& resources,
                                             std::stop_token stop);

/// Returns the pixels per sheet unit at which the text, in the view's type, fits on the sheet.
float sheetPixels(const View& view, const HandoutWords& said);
/// Paints the sheet without its picture. `place` is the page number.
void paintSheet(const View& view, Canvas list, const HandoutWords& said, const std::string& place,
                float pixels);

}  // namespace headscope::app

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
#include "app/shell/figure_wish.h"
#include "app/widgets/view.h"
#include "attention/core/result.h"

namespace headscope::app {

/// A sheet of A4, and the picture of the view on it.
inline constexpr Frame kHandoutSheet{0, 0, 1460, 2064}, kHandoutPicture{90, 90, 1280, 720};
inline const PictureSize kHandoutSize{.width = Length{210, true}};

/// A page for each view of a scene's talk, or one for the scene where it has none. `name`: of its file.
std::vector<FigurePage> handoutPages(const Scene& scene, const std::string& name);
/// A page for each step. With `answers` it shows what comes after its question, and says what is right.
std::vector<FigurePage> handoutPages(const std::shared_ptr<const Lesson>& lesson, bool answers);

/// On a worker: what is said about a step. Errors: those of studyStep().
attention::Result<HandoutWords> handoutWords(const HandoutStep& step, Resources& resources,
                                             std::stop_token stop);

/// Pixels that a unit of the sheet takes where it is set in the type that the view has: so many that the
/// words find room.
float sheetPixels(const View& view, const HandoutWords& said);
/// Paints the sheet without its picture. `place`: the page's number.
void paintSheet(const View& view, Canvas list, const HandoutWords& said, const std::string& place,
                float pixels);

}  // namespace headscope::app

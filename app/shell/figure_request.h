#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/scene_picture.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/scene.h"
#include "app/widgets/view.h"
#include "attention/core/result.h"

namespace headscope::app {

/// The text on a handout sheet. Formatted as in scene/text/rich_text.h.
struct HandoutWords {
  std::string file = {};  ///< the source file
  std::string title = {}, notes = {}, ask = {};
  std::vector<std::string> options = {};
  std::string answer = {};  ///< the right option, and why
};

/// A lesson step whose text is yet to be computed.
struct HandoutStep {
  std::shared_ptr<const Lesson> lesson = {};  ///< null = nothing to compute
  std::size_t at = 0;
  bool answers = false;  ///< reveals the right option
  bool operator==(const HandoutStep&) const = default;
};

/// A page drawn off screen: a figure, or a presented view with text on a sheet.
struct FigurePage {
  Scene scene;
  PictureKind kind = PictureKind::page;
  std::optional<FigureView> how = {};  ///< nothing = a view on a sheet
  HandoutWords words = {};             ///< the sheet's text, unless `step` provides it
  HandoutStep step = {};
};

/// A request to draw something off screen between frames: a figure, or the pages of a handout.
struct FigureRequest {
  std::vector<FigurePage> pages;  ///< at least one
  bool light = true;
  std::string name;  ///< of the target file
  double since = 0;  ///< View::time of the request
  /// Receives one drawing per page, or the error.
  std::function<void(attention::Result<std::vector<Drawing>>)> then;
  std::size_t drawn = 0;  ///< pages drawn so far
};

}  // namespace headscope::app

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

/// What is said about a view that is handed out. Texts are those of scene/text/rich_text.h.
struct HandoutWords {
  std::string file = {};  ///< that it is from
  std::string title = {}, notes = {}, ask = {};
  std::vector<std::string> options = {};
  std::string answer = {};  ///< which option is right, and why
};

/// A step of a lesson, whose words are to be computed.
struct HandoutStep {
  std::shared_ptr<const Lesson> lesson = {};  ///< null: there is nothing to compute
  std::size_t at = 0;
  bool answers = false;  ///< it says what is right
  bool operator==(const HandoutStep&) const = default;
};

/// What is drawn off screen: a figure, or a view as it is presented, on a sheet with what is said about it.
struct FigurePage {
  Scene scene;
  PictureKind kind = PictureKind::page;
  std::optional<FigureView> how = {};  ///< nothing: on a sheet
  HandoutWords words = {};             ///< on the sheet, or those of `step`
  HandoutStep step = {};
};

/// What a window asks for, drawn off screen between its frames: a figure, or the pages of a hand-out.
struct FigureWish {
  std::vector<FigurePage> pages;  ///< at least one
  bool light = true;
  std::string name;  ///< of the file that it is for
  double since = 0;  ///< View::time when it was asked for
  /// Gets a drawing for each page, or why there are none.
  std::function<void(attention::Result<std::vector<Drawing>>)> then;
  std::size_t drawn = 0;  ///< pages that are
};

}  // namespace headscope::app

#pragma once

#include <optional>
#include <string>

#include "app/pages/common/page_stage.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"

namespace headscope::app::talk_page {

/// A change to the talk, applied at the start of the next frame. Those that need a view use the current one.
enum class Move { next, back, first, last, earlier, later, duplicate, remove, keep, restore };

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  PageStage stage;           ///< the current view
  int at = 0, count = 0;     ///< index of the current view, and the number of views
  std::optional<Move> move;  ///< requested in this frame
  std::optional<int> goTo;   ///< index of a requested view
  bool focusName = false;    ///< moves the keyboard focus to the name box
  bool shows = false;        ///< scrolls the strip to the current view
  int dragged = -1;          ///< the view being dragged along the strip; −1 = none
};

/// The height of the strip of views in pixels.
float stripHeight(const View& view, float windowHeight);
/// Draws the views side by side, and on the right the name and notes of the current one. `own` is the
/// window's scene, which holds the talk.
void strip(State& page, Scene& own, const ImRect& area);

}  // namespace headscope::app::talk_page

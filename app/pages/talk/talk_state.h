#pragma once

#include <optional>
#include <string>

#include "app/pages/common/page_stage.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"

namespace headscope::app::talk_page {

/// What is done to the talk's views, at the next frame's beginning. Those with a view act on the one shown.
enum class Move { next, back, first, last, earlier, later, duplicate, remove, keep, restore };

/// What the page of the talk shows: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  PageStage stage;           ///< the view that is shown
  int at = 0, count = 0;     ///< which of how many
  std::optional<Move> move;  ///< asked for in this frame
  std::optional<int> goTo;   ///< a view that was asked for
  bool focusName = false;    ///< the name's box gets the keyboard
  bool shows = false;        ///< the view shown scrolls into sight in the strip
  int dragged = -1;          ///< the view that is dragged along the strip; −1: none
};

/// Height of the strip of views in pixels.
float stripHeight(const View& view, float windowHeight);
/// The views side by side, and at the right the name and notes of the one that is shown. `own` is the
/// window's scene, whose talk it is.
void strip(State& page, Scene& own, const ImRect& area);

}  // namespace headscope::app::talk_page

#pragma once

#include "app/platform/imgui_compat.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Where the parts of the window are, in framebuffer pixels.
struct Layout {
  ImRect top, left, center, cache, right, status;
  bool narrow = false;    ///< the panel at the right is a drawer
  bool presents = false;  ///< nothing but the page and a line below it
  bool showLeft = true, showRight = true, showCache = true;
  bool cacheLine = false;  ///< the strip at the bottom is one line
  /// What words beside the page speak of, as it is tracked: where there is little room, the rest folds away
  /// before it does.
  std::string named;
};

/// Follows the window and the text size: panels fold away before the heads get small.
/// `hasSide` and `hasStrip`: whether the page has a panel at the right and a strip at the bottom.
Layout layoutFor(const View& view, float width, float height, bool hasSide, bool hasStrip);

/// An ImGui window without any decoration over `area`. `flags` are added to the usual ones.
bool beginPanel(const View& view, const char* name, const ImRect& area, float padX, float padY,
                int flags = 0);
void endPanel();

}  // namespace headscope::app

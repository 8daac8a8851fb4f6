#pragma once

#include "app/platform/imgui_compat.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The parts of the window, in framebuffer pixels.
struct Layout {
  ImRect top, left, center, cache, right, status;
  bool narrow = false;    ///< the right panel is a drawer
  bool presents = false;  ///< shows only the page and a line below it
  bool showLeft = true, showRight = true, showCache = true;
  bool cacheLine = false;  ///< the bottom strip is a single line
  /// The tracked name of what the text next to the page is about. In tight spaces, everything else folds away
  /// first.
  std::string named;
};

/// Adapts the layout to the window and text size: panels fold away before the heads get small. `hasSide` and
/// `hasStrip` say whether the page has a right panel and a bottom strip.
Layout layoutFor(const View& view, float width, float height, bool hasSide, bool hasStrip);

/// Begins an undecorated ImGui window over `area`; `flags` are added to the usual ones.
bool beginPanel(const View& view, const char* name, const ImRect& area, float padX, float padY,
                int flags = 0);
void endPanel();

}  // namespace headscope::app

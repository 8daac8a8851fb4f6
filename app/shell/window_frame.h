#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"

namespace headscope::app {

// The window's frame around every page: the bar at the top and the line at the bottom.

/// The state of the whole window, as the bars show it.
struct WindowState {
  std::string sceneName;  ///< of its file; "" = none
  bool dirty = false, canUndo = false, canRedo = false;
  std::size_t undoSteps = 0, gpuBytes = 0;
  double drawSeconds = 0;  ///< duration of the last frame; 0 = not shown
};

/// Draws tabs on the left and global actions on the right. `tabs` and `shown` are indices into `rows`.
void topBar(View& view, const Layout& layout, const WindowState& window, const ActionTable& actions,
            std::span<const PageRow> rows, std::span<const std::size_t> tabs, std::size_t shown);
/// Shows the last error or notice, otherwise what the mouse and keys do there (PageStatus).
void statusLine(View& view, const Layout& layout, const WindowState& window, const PageStatus& page);

/// Replaces the status line while presenting: the page's sentence with its colours' legend, or the last error
/// or notice. The headline comes before the sentence, or in its place if there is no room for both.
void captionLine(View& view, const Layout& layout, const std::string& headline,
                 std::vector<CaptionPart> caption, const FigureLegend& legend, const std::string& notFinite);

/// Shows what was just done next to the place of the request, for kPointerMessageSeconds or until the next
/// request.
void paintPointerMessage(View& view);

/// Draws a ring around the control that has the keyboard focus, and scrolls the control into view.
void focusRing(View& view);

}  // namespace headscope::app

#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/widgets/caption.h"
#include "app/widgets/layout.h"

namespace headscope::app {

// What stands round every page: the bar at the top, the line at the bottom.

/// What the bars say of the whole window.
struct WindowState {
  std::string sceneName;  ///< of its file; "" where it has none
  bool dirty = false, canUndo = false, canRedo = false;
  std::size_t undoSteps = 0, gpuBytes = 0;
  double drawSeconds = 0;  ///< what the last frame took to draw; 0 = isn't said
};

/// Tabs at the left, what can be done everywhere at the right. `shown` is a row of `rows`.
void topBar(View& view, const Layout& layout, const WindowState& window, const ActionTable& actions,
            std::span<const PageRow> rows, std::size_t shown);
/// The last error or notice, else what the page and the window take.
void statusLine(View& view, const Layout& layout, const WindowState& window, const PageStatus& page);

/// While presenting, in place of that: the page's sentence, or the last error or notice.
void captionLine(View& view, const Layout& layout, const std::vector<CaptionPart>& caption,
                 const std::string& notFinite);

/// What was just done, beside where it was asked for, for kToldSeconds or until something else is asked for.
void toldNote(View& view);

}  // namespace headscope::app

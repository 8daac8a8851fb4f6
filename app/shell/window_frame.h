#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/widgets/panel.h"
#include "app/widgets/view.h"
#include "render/picture.h"

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

/// A fade from one view of a talk to the next. The old picture stays until the new view is computed, then
/// fades out over it. Common content doesn't move, and no intermediate numbers are shown.
class ViewFade {
 public:
  static constexpr double kMinSeconds = 0.1;  ///< shorter fades become cuts
  static constexpr double kMaxWaiting = 0.6;  ///< seconds until it fades even if the view isn't ready

  /// Whether that action moves from one view to another.
  static bool walks(const std::string& action);
  /// Keeps a copy of the bound framebuffer (width × height pixels), to fade out over `seconds`.
  void begin(int width, int height, double now, double seconds);
  void stop() { picture_ = {}; }
  bool active() const { return !picture_.empty(); }
  /// Draws over everything else. `ready` = the next view is computed.
  void draw(View& view, bool ready);

 private:
  render::Picture picture_;
  double beganAt_ = 0, readyAt_ = -1, seconds_ = 0;
};

}  // namespace headscope::app

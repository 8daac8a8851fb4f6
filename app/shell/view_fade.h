#pragma once

#include <string>

#include "app/widgets/view.h"
#include "render/picture.h"

namespace headscope::app {

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

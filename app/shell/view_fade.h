#pragma once

#include <string>

#include "app/widgets/view.h"
#include "render/picture.h"

namespace headscope::app {

/// From one view of a talk to the next: the picture of the one before stays until the next is computed, and
/// fades over it. What both show stays where it is; no number between theirs is shown.
class ViewFade {
 public:
  static constexpr double kLeastSeconds = 0.1;  ///< of fading: what would be shorter is a cut
  static constexpr double kMostWaiting = 0.6;   ///< seconds until it fades over what isn't there yet

  /// Whether that action goes from one view to another.
  static bool walks(const std::string& action);
  /// Keeps the bound framebuffer's picture of width × height pixels, to fade for `seconds`.
  void begin(int width, int height, double now, double seconds);
  void stop() { picture_ = {}; }
  bool active() const { return !picture_.empty(); }
  /// Over everything that is drawn. `ready` is whether the next view is computed.
  void draw(View& view, bool ready);

 private:
  render::Picture picture_;
  double beganAt_ = 0, readyAt_ = -1, seconds_ = 0;
};

}  // namespace headscope::app

#pragma once

#include <vector>

#include "app/scene/field.h"
#include "app/widgets/view.h"

namespace headscope::app::talk_page {

/// The animation between two views of a talk that differ only in numbers: the visible part of the map, a
/// slider's value, the step of a decode. Every scene on the way is one that a person could have set, and is
/// fully computed. If the views differ in anything else, there is no animation.
class ViewTravel {
 public:
  /// Starts the animation `from` → `to`, taking `seconds` from `now` on. advance() must first be given `to`.
  /// Returns whether there is anything to animate.
  bool begin(const Scene& from, const Scene& to, double now, double seconds = kWalkSeconds);
  bool active() const { return !ways_.empty(); }
  /// Sets the numbers of `scene` to their values at `now`, except any that the person has changed.
  void advance(Scene& scene, double now);
  /// Sets them to their final values.
  void finish(Scene& scene) { advance(scene, beganAt_ + 2 * seconds_); }

 private:
  struct Way {
    const Field* field;
    double from, to;
    double last;  ///< as last put into the scene
  };
  std::vector<Way> ways_;
  double beganAt_ = 0, seconds_ = kWalkSeconds;
};

}  // namespace headscope::app::talk_page

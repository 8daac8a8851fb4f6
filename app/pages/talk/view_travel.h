#pragma once

#include <vector>

#include "app/scene/field.h"
#include "app/widgets/view.h"

namespace headscope::app::talk_page {

/// On the way from one view of a talk to the next where they differ in numbers alone: what of the map is
/// visible, a slider's real value, the step of a decode. Every scene on the way is one that a person could
/// have set, and what is shown of it is computed; where views differ in anything else, nothing travels.
class ViewTravel {
 public:
  /// Begins at `now` and takes `seconds`, from `from` to `to`, which is what advance() is first given;
  /// whether there is anything on the way.
  bool begin(const Scene& from, const Scene& to, double now, double seconds = kWalkSeconds);
  bool active() const { return !ways_.empty(); }
  /// Puts the numbers of `scene` where they are at `now`; those that the person moved meanwhile stay.
  void advance(Scene& scene, double now);
  /// Puts them where they are going.
  void finish(Scene& scene) { advance(scene, beganAt_ + 2 * seconds_); }

 private:
  struct Way {
    const Field* field;
    double from, to;
    double last;  ///< as it was put into the scene
  };
  std::vector<Way> ways_;
  double beganAt_ = 0, seconds_ = kWalkSeconds;
};

}  // namespace headscope::app::talk_page

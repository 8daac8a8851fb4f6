#pragma once

#include <optional>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app::cache_page {

using attention::Index;

/// Columns from … to−1 that are fading in from dark.
struct ComingColumns {
  Index from = 0, to = 0;
  float light = 1;  ///< 0 = dark, 1 = full
};

/// The field's animation at one moment.
struct FieldMoment {
  float playhead = 0;                 ///< left edge of the playhead, in tokens
  std::vector<ComingColumns> coming;  ///< in order of arrival
  Index fromKvHeads = 0;  ///< bands glide from their places for this many kv heads; 0 = not gliding
  float glide = 1;        ///< progress of the glide, 0 to 1

  /// The brightness of a token's column, 0 to 1.
  float light(Index token) const;
};

/// The animation from the field's last frame to its current state. A step takes kStepSeconds, a change of the
/// kv heads kGlideSeconds. Only the picture moves; numbers change at once.
class FieldMotion {
 public:
  static constexpr double kStepSeconds = 0.12, kGlideSeconds = 0.24;

  /// The state in one frame.
  struct Shown {
    Index tokens = 0, heads = 0, kvHeads = 0;
    Index now = 0;          ///< tokens in the cache
    bool decoding = false;  ///< the playhead is visible
  };

  /// Call once per frame. Without `ease`, or if the number of tokens or heads changed, nothing is animated.
  void observe(const Shown& shown, double time, bool ease);
  /// Treats the next state as the first, without animation.
  void reset() { *this = {}; }
  bool moving(double time) const;
  bool gliding(double time) const { return fromKvHeads_ > 0 && time < glidesAt_ + kGlideSeconds; }
  FieldMoment at(double time) const;

 private:
  struct Arrival {
    Index from, to;
    double at;
  };
  float playheadAt(double time) const;

  std::optional<Shown> shown_;
  std::vector<Arrival> arrivals_;
  float stepFrom_ = 0;  ///< where the playhead was when the step began
  double stepAt_ = -1, glidesAt_ = -1;
  Index fromKvHeads_ = 0;
};

}  // namespace headscope::app::cache_page

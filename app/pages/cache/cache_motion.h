#pragma once

#include <optional>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app::cache_page {

using attention::Index;

/// Columns from … to−1 that are coming up from dark.
struct ComingColumns {
  Index from = 0, to = 0;
  float light = 1;  ///< 0 dark, 1 as they are
};

/// The field between two states, at one moment.
struct FieldMoment {
  float playhead = 0;                 ///< its left end, in tokens
  std::vector<ComingColumns> coming;  ///< in the order they came
  Index fromKvHeads = 0;              ///< bands glide from their places among so many; 0: they rest
  float glide = 1;                    ///< how far, 0 to 1

  /// Of a token's column, 0 to 1.
  float light(Index token) const;
};

/// What the field looked like in the last frame and how it gets to what it is now: a step takes
/// kStepSeconds, another number of kv heads kGlideSeconds. Only the picture moves; numbers switch at once.
class FieldMotion {
 public:
  static constexpr double kStepSeconds = 0.12, kGlideSeconds = 0.24;

  /// What there is in a frame.
  struct Shown {
    Index tokens = 0, heads = 0, kvHeads = 0;
    Index now = 0;          ///< tokens in the cache
    bool decoding = false;  ///< the playhead is shown
  };

  /// Once a frame. Without `ease`, and where another text or layer is shown, all is as it is at once.
  void observe(const Shown& shown, double time, bool ease);
  /// What comes next is a first picture, from which nothing moves.
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
  float stepFrom_ = 0;  ///< where the playhead was when it set off
  double stepAt_ = -1, glidesAt_ = -1;
  Index fromKvHeads_ = 0;
};

}  // namespace headscope::app::cache_page

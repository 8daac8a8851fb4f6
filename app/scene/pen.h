#pragma once

#include <string>
#include <vector>

#include "app/scene/shared_value.h"
#include "attention/core/tensor.h"

namespace headscope::app {

struct PenPoint {
  float x = 0, y = 0;
  bool operator==(const PenPoint&) const = default;
};

/// A token that a line of the pen is on, so that it is found again after others were inserted or removed.
struct PenToken {
  attention::Index at = 0, of = 0;  ///< its place among how many; of = 0: a place alone, whatever is there
  std::string word;
  bool operator==(const PenToken&) const = default;
};

/// A line of the pen. It belongs to the cell, the picture or the word that it began on, and moves with it.
struct PenStroke {
  std::string page;  ///< that it was drawn on, by its key
  std::string on;    ///< what it belongs to, as it is tracked (see platform/track.h); "": the window
  std::vector<PenToken> cell;  ///< of a picture, its row and column; of a row of words, the word; or nothing
  bool arrow = false;          ///< straight, from the first point to the last
  std::vector<PenPoint> points;  ///< across what it belongs to, 0 to 1, or beyond
  bool operator==(const PenStroke&) const = default;
};
using SharedStrokes = SharedValue<std::vector<PenStroke>>;

inline constexpr std::size_t kMaxStrokes = 500, kMaxStrokePoints = 2000, kMaxStrokeName = 200;
/// Points are no farther out than this, and as fine as this.
inline constexpr float kFarthestPoint = 10000, kPointGrain = 1e-4f;

}  // namespace headscope::app

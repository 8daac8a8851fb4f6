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

/// A token that a pen stroke is on, to find it again after others were inserted or removed.
struct PenToken {
  attention::Index at = 0, of = 0;  ///< index among how many; of = 0: only the index, whatever is there
  std::string word;
  bool operator==(const PenToken&) const = default;
};

/// A pen stroke. It belongs to the cell, picture or word where it began, and moves with it.
struct PenStroke {
  std::string page;              ///< key of the page it was drawn on
  std::string on;                ///< what it belongs to, as tracked (see platform/track.h); "" = the window
  std::vector<PenToken> cell;    ///< in a picture, its row and column; in a row of words, the word; or empty
  bool arrow = false;            ///< straight, from the first point to the last
  std::vector<PenPoint> points;  ///< 0 to 1 across what it belongs to, or beyond
  bool operator==(const PenStroke&) const = default;
};
using SharedStrokes = SharedValue<std::vector<PenStroke>>;

inline constexpr std::size_t kMaxStrokes = 500, kMaxStrokePoints = 2000, kMaxStrokeName = 200;
/// Limit of a point's coordinates, and their resolution.
inline constexpr float kFarthestPoint = 10000, kPointGrain = 1e-4f;

}  // namespace headscope::app

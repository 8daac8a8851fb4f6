#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// A rotary position embedding (Su et al. 2021), half-split: of the first `dims` dimensions of a head, t is
/// paired with t + dims/2 and turned by position · frequencies[t] radians; or, of `neighbours`, 2t with 2t
/// + 1.
struct Rotation {
  Index dims = 0;
  std::vector<double> frequencies;  ///< [dims / 2]
  /// For texts of more than `longBeyond` tokens; empty: the same for all texts.
  std::vector<double> longFrequencies;
  Index longBeyond = 0;
  double amplitude = 1;  ///< factor on what is turned
  bool neighbours = false;
  Index first = 0;  ///< the first dimension of a head that is turned
  bool operator==(const Rotation&) const = default;

  /// Whether keys that were turned in a text of `before` tokens have to be turned anew in one of `after`.
  bool changes(Index before, Index after) const;
};

/// θ^(−2t/dims) for t = 0 … dims/2 − 1.
std::vector<double> ropeFrequencies(Index dims, double theta);

/// Llama 3.1's stretching: waves that are long against the original context are slowed by `factor`, short
/// ones kept, with a ramp between.
struct Llama3Scaling {
  double factor = 8, lowFactor = 1, highFactor = 4, originalPositions = 8192;
};
std::vector<double> stretched(std::vector<double> frequencies, const Llama3Scaling& scaling);

/// YaRN (Peng et al. 2023): waves that turn fewer than `slow` times over the original context are slowed by
/// `factor`, those that turn more than `fast` times are kept, with a ramp between over the dimensions.
struct YarnScaling {
  double factor = 1, fast = 32, slow = 1, originalPositions = 4096;
  bool truncates = true;  ///< the ramp begins and ends at whole dimensions
};
std::vector<double> stretched(std::vector<double> frequencies, double theta, const YarnScaling& scaling);
/// 0.1·m·ln(factor) + 1, the factor by which it sharpens attention; 1 where nothing is stretched.
double yarnSharpness(double factor, double m = 1);

/// Cosines (first half of each row) and sines, times the amplitude, [count, dims], for positions first …
/// first+count−1 of a text of `tokens` tokens. Angles in double precision.
Matrix rotationTable(const Rotation& rotation, Index first, Index count, Index tokens);

/// Turns table.cols() dimensions of every row of every head [heads, n, headDim], from dimension `from` on, by
/// a table of n rows, in pairs of halves or of neighbours.
void rotateHeads(Stack& heads, const Matrix& table, bool neighbours = false, Index from = 0);

}  // namespace headscope::attention

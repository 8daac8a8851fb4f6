#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Dynamic NTK: the base grows with the text, to θ·(factor·n/N − (factor − 1))^(d/(d − 2)) for a text of n
/// tokens, N trained ones and d rotated dimensions (_compute_dynamic_ntk_parameters of transformers).
struct DynamicScaling {
  double factor = 0, theta = 0;  ///< factor 0: none
  bool operator==(const DynamicScaling&) const = default;
};

/// A rotary position embedding (Su et al. 2021), half-split: among the `dims` rotated dimensions of a head, t
/// and t + dims/2 form a pair that is rotated by position · frequencies[t] radians. With `neighbours`, the
/// pairs are 2t and 2t + 1.
struct Rotation {
  Index dims = 0;
  std::vector<double> frequencies;  ///< [dims / 2]
  /// For texts of more than `longBeyond` tokens; if empty and not `dynamic`, `frequencies` serves all texts.
  std::vector<double> longFrequencies;
  DynamicScaling dynamic = {};  ///< for texts of more than `longBeyond` tokens
  Index longBeyond = 0;
  double amplitude = 1;  ///< factor on the rotated dimensions
  bool interleaved = false;
  Index first = 0;  ///< first rotated dimension of a head
  bool operator==(const Rotation&) const = default;

  /// Whether keys rotated in a text of `before` tokens must be rotated again in one of `after`.
  bool changes(Index before, Index after) const;
  /// The frequencies in a text of `tokens` tokens.
  std::vector<double> frequenciesFor(Index tokens) const;
};

/// Returns θ^(−2t/dims) for t = 0 … dims/2 − 1.
std::vector<double> ropeFrequencies(Index dims, double theta);

/// Llama 3.1's context extension: frequencies with a wavelength that is long relative to the original context
/// are divided by `factor`, those with a short one are kept, with a ramp between.
struct Llama3Scaling {
  double factor = 8, lowFactor = 1, highFactor = 4, originalPositions = 8192;
};
std::vector<double> stretched(std::vector<double> frequencies, const Llama3Scaling& scaling);

/// YaRN (Peng et al. 2023): frequencies that turn fewer than `slow` times over the original context are
/// divided by `factor`, those that turn more than `fast` times are kept, with a ramp over the dimensions
/// between.
struct YarnScaling {
  double factor = 1, fast = 32, slow = 1, originalPositions = 4096;
  bool truncates = true;  ///< the ramp starts and ends at whole dimensions
};
std::vector<double> stretched(std::vector<double> frequencies, double theta, const YarnScaling& scaling);
/// Returns YaRN's attention factor, 0.1·m·ln(factor) + 1; 1 if nothing is stretched (factor ≤ 1).
double yarnAttentionFactor(double factor, double m = 1);

/// Returns a table [count, dims] for positions first … first+count−1 of a text of `tokens` tokens: cosines in
/// the first half of each row, sines in the second, times the amplitude. Angles are in double precision.
Matrix rotationTable(const Rotation& rotation, Index first, Index count, Index tokens);

/// Rotates table.cols() dimensions of every row of every head [heads, n, headDim], starting at dimension
/// `from`, by a table of n rows, in pairs of halves or of neighbours.
void rotateHeads(Stack& heads, const Matrix& table, bool interleaved = false, Index from = 0);

}  // namespace headscope::attention

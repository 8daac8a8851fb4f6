#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// What recorded weights are that a softmax's never are. Half precision is allowed for.
struct WeightFaults {
  std::uint64_t all = 0;                                 ///< weights examined
  std::uint64_t notFinite = 0, negative = 0, above = 0;  ///< weights: NaN or infinite, below 0, above 1
  std::uint64_t rows = 0;                                ///< rows whose sum is neither 1 nor 0
  float least = 0, most = 0;                             ///< of the finite weights, and 0
  /// Sums of the rows whose weights are finite and don't sum to 0.
  float minSum = std::numeric_limits<float>::infinity(), maxSum = -minSum;

  void add(const WeightFaults& other);
  /// The ends of a scale around 0 that holds all weights, if some are negative; otherwise 0.
  float aroundZero() const { return negative == 0 ? 0 : most > -least ? most : -least; }
  /// What was found with the likeliest cause, in sentences; "" if nothing was.
  std::string describe() const;
};
/// Whether a weight lies above 1 by more than rounding.
constexpr bool isAboveOne(float weight) {
  return weight > 1.01F;
}

/// Returns the weights, [n, m], as they are drawn on a scale from 0 to 1: those above 1 as NaN, which has its
/// own colour.
Matrix markedWeights(const Matrix& weights);

/// Examines one head's weights, [n, m].
WeightFaults faultsOf(const Matrix& weights);

}  // namespace headscope::attention

#pragma once

#include "attention/core/attention.h"
#include "attention/core/score_terms.h"

namespace headscope::attention {

/// One head's scores at each step before the mask. AttentionResult has the later steps: masked scores,
/// weights and the head's output.
struct HeadSteps {
  Matrix dots;       ///< [n, m] Q·Kᵀ
  float factor = 1;  ///< scale · sharpness; dots · factor are the scaled scores
  Matrix biased;     ///< [n, m] with position biases, soft-cap and additive mask; empty if there are none

  /// Returns the score of a cell before masking.
  float unmasked(Index query, Index key) const {
    return biased.size() ? biased(query, key) : dots(query, key) * factor;
  }
};

/// Computes the steps from the queries and keys in `result`. Throws std::invalid_argument if `head` is
/// outside the result.
HeadSteps headSteps(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                    Index head);

/// Pools a matrix into at most `rows` × `cols` nearly equal parts by the value farthest from 0, so that large
/// values stay visible. Any finite value takes precedence over ±inf and NaN.
Matrix poolByMagnitude(const Eigen::Ref<const Matrix>& values, Index rows, Index cols);

}  // namespace headscope::attention

#pragma once

#include "attention/core/attention.h"
#include "attention/core/score_terms.h"

namespace headscope::attention {

/// One head's scores on their way, before the mask. What comes after them, the AttentionResult has: masked
/// scores, weights, the head's output.
struct HeadSteps {
  Matrix dots;       ///< [n, m] Q·Kᵀ
  float factor = 1;  ///< the scale, and the gain where there is one: dots · factor are the scaled scores
  Matrix biased;     ///< [n, m] with position biases, soft-cap and added numbers; empty where nothing does so

  /// The score of a cell before masking.
  float unmasked(Index query, Index key) const {
    return biased.size() ? biased(query, key) : dots(query, key) * factor;
  }
};

/// Works from the queries and keys that `result` holds. Throws std::invalid_argument where `head` lies
/// outside the result.
HeadSteps headSteps(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                    Index head);

/// Max-pools a matrix by the number farthest from 0, into at most `rows` × `cols` nearly equal parts: a large
/// number stays visible. −inf and NaN give way to every number beside them.
Matrix poolFarthest(const Eigen::Ref<const Matrix>& values, Index rows, Index cols);

}  // namespace headscope::attention

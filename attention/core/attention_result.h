#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// All intermediate results of attention for one sequence of n queries over m keys.
struct AttentionResult {
  Stack q;           ///< [heads, n, headDim], rotated under RoPE
  Stack k;           ///< [kvHeads, m, headDim], rotated under RoPE
  Stack v;           ///< [kvHeads, m, headDim], or narrower
  Stack scores;      ///< [heads, n, m] after all score terms (score_terms.h); −inf where masked
  Stack weights;     ///< [heads, n, m]; a row and its sink's share sum to 1; zeros if no key is visible
  Matrix lse;        ///< [heads, n] log-sum-exp of the scores and the sink; −inf if no key is visible
  Stack headOutput;  ///< [heads, n, headDim], as wide as v
  Matrix output;     ///< [n, modelDim]
};

/// How much of a result is kept. Each level includes the ones before it.
enum class Keep { output, weights, scores };

}  // namespace headscope::attention

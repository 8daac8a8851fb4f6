#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Everything attention computes on the way, for one sequence of n queries over m keys.
struct AttentionResult {
  Stack q;        ///< [heads, n, headDim], rotated under RoPE
  Stack k;        ///< [kvHeads, m, headDim], rotated under RoPE
  Stack v;        ///< [kvHeads, m, headDim], or narrower
  Stack scores;   ///< [heads, n, m] after all score terms (score_terms.h); −inf where masked
  Stack weights;  ///< [heads, n, m]; rows sum to 1 with what a sink takes, or are 0 where no key is visible
  Matrix lse;     ///< [heads, n] log-sum-exp of the scores and the sink; −inf where no key is visible
  Stack headOutput;  ///< [heads, n, headDim], as wide as v
  Matrix output;     ///< [n, modelDim]
};

/// How much of a result is made. Each also has what those before it have.
enum class Keep { output, weights, scores };

}  // namespace headscope::attention

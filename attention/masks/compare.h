#pragma once

#include "attention/core/attention.h"

namespace headscope::attention {

/// What another mask did to the same heads, [heads, queries] each.
struct MaskComparison {
  Matrix movedMass;  ///< ½ Σⱼ |w_A − w_B|: the share of a row's weight that reads elsewhere; where just one
                     ///< row sees nothing, ½ of the other's
  Matrix entropyChange;  ///< entropy of B's row minus that of A's, nats
  Matrix outputChange;  ///< ‖o_A − o_B‖ / ‖o_A‖ of the head's output; 0 where both are 0, ∞ where only A's is
};

/// What is compared of one mask: weights [heads, queries, keys] before dropout, and the heads' outputs
/// [heads, queries, headDim].
struct MaskedHeads {
  MaskedHeads(const Stack& weights_, const Stack& outputs_) : weights(weights_), outputs(outputs_) {}
  MaskedHeads(const AttentionResult& result) : MaskedHeads(result.weights, result.headOutput) {}
  const Stack& weights;
  const Stack& outputs;
};

/// Both are over the same heads, queries and keys (throws std::invalid_argument otherwise).
MaskComparison compareMasks(const MaskedHeads& a, const MaskedHeads& b);

}  // namespace headscope::attention

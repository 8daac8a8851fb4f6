#pragma once

#include "attention/core/attention.h"

namespace headscope::attention {

/// The effect of mask B compared with mask A on the same heads, [heads, queries] each.
struct MaskComparison {
  Matrix movedMass;  ///< ½ Σⱼ |w_A − w_B|: the share of a row's weight that moves to other keys; if only one
                     ///< of the rows sees no key, ½ of the other's weight
  Matrix entropyChange;  ///< entropy of B's row minus that of A's, nats
  Matrix outputChange;  ///< ‖o_A − o_B‖ / ‖o_A‖ of the head's output; 0 if both are 0, ∞ if only o_A is
};

/// The results under one mask: weights [heads, queries, keys] before dropout, and head outputs
/// [heads, queries, headDim].
struct MaskedHeads {
  MaskedHeads(const Stack& weights_, const Stack& outputs_) : weights(weights_), outputs(outputs_) {}
  MaskedHeads(const AttentionResult& result) : MaskedHeads(result.weights, result.headOutput) {}
  const Stack& weights;
  const Stack& outputs;
};

/// Compares two masks. Throws std::invalid_argument unless both have the same heads, queries and keys.
MaskComparison compareMasks(const MaskedHeads& a, const MaskedHeads& b);

}  // namespace headscope::attention

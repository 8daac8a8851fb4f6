#pragma once

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

// Row-wise operations of a transformer layer other than attention and linear maps, on all threads.

/// Returns each row normalized over its columns by the kind's equation (model_config.h), or x if there are no
/// weights. Sums in double precision.
Matrix normRows(const Matrix& x, const NormWeights& weights, NormKind kind, double epsilon);
/// Normalizes every row of every head in place; the weights are for one head or for all.
void normHeads(Stack& heads, const NormWeights& weights, NormKind kind, double epsilon);

/// Limits all values to ± `most`.
void limit(Stack& heads, float most);

/// Applies the activation in place.
void activate(Matrix& x, Activation activation);
/// Computes up = act(gate) ⊙ up, with the limits of ModelConfig::gateLimit if given. Overwrites the gate.
void activateGated(Matrix& gate, Matrix& up, Activation activation, std::optional<float> limit = {});

}  // namespace headscope::attention

#pragma once

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

// What a transformer's layers do beside attention and linear maps, row by row on all threads.

/// Each row normed over its columns, by the kind's equation (model_config.h); as it is where there are no
/// weights. Sums in double precision.
Matrix normRows(const Matrix& x, const NormWeights& weights, NormKind kind, double epsilon);
/// The same, in place, for every row of every head.
void normHeads(Stack& heads, const NormWeights& weights, NormKind kind, double epsilon);

/// act(x), in place.
void activate(Matrix& x, Activation activation);
/// up = act(gate) ⊙ up, with ModelConfig::gateLimit where there is one; the gate is used up.
void activateGated(Matrix& gate, Matrix& up, Activation activation, std::optional<float> limit = {});

}  // namespace headscope::attention

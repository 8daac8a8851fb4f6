#pragma once

#include <stop_token>
#include <vector>

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

/// What a recurrent layer keeps of the tokens that it has read.
struct RecurrentState {
  Index tokens = 0;  ///< how many; −1: undefined, after a pass that was stopped
  Matrix inputs;     ///< [kernel − 1, channels], what the convolution last read, oldest first
  Stack numbers;     ///< as Recurrence says; empty for a short convolution
};

/// Returns what a recurrent layer makes of the rows x [n, modelDim] that follow the state's tokens, [n,
/// modelDim], and moves the state past them. Undefined, like the state, once `stop` is requested. Equations:
/// Recurrence::Kind.
Matrix recur(const RecurrentWeights& weights, const Recurrence& how, const Matrix& x, RecurrentState& state,
             const std::stop_token& stop);

}  // namespace headscope::attention

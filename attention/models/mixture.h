#pragma once

#include <stop_token>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/model_config.h"
#include "attention/models/routing.h"

namespace headscope::attention {

/// down(act(up x)), or down(act(gate x) ⊙ up x) where the MLP has a gate; zeros once `stop` is requested.
Matrix mlpOf(const MlpWeights& weights, const Matrix& x, const ModelConfig& config,
             const std::stop_token& stop);

/// Which experts the rows of x go to: the best `used` by their scores, which Mixture describes, the larger
/// first and the lower number of equals; NaN is the least.
Routing routingOf(const MixtureWeights& weights, const Mixture& mixture, const Matrix& x,
                  const std::stop_token& stop);

/// Σ share·MLPₑ(x) over each row's experts, and MLP(x) of what is shared, times σ(w·x) where that has a
/// router.
Matrix mixtureOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
                 const Matrix& x, const std::stop_token& stop);

}  // namespace headscope::attention

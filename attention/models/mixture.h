#pragma once

#include <stop_token>

#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/model_config.h"
#include "attention/models/routing.h"

namespace headscope::attention {

/// Returns down(act(up x)), or down(act(gate x) ⊙ up x) if the MLP has a gate; zeros once `stop` is
/// requested.
Matrix mlpOf(const MlpWeights& weights, const Matrix& x, const ModelConfig& config,
             const std::stop_token& stop);

/// Chooses the experts of each row of x: the `used` best by the scores that Mixture describes, best first.
/// Ties go to the lower index; NaN ranks last.
Routing routingOf(const MixtureWeights& weights, const Mixture& mixture, const Matrix& x,
                  const std::stop_token& stop);

/// Returns Σ share·MLPₑ(x) over each row's experts, plus the shared MLP(x), multiplied by σ(w·x) if it has a
/// router.
Matrix mixtureOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
                 const Matrix& x, const std::stop_token& stop);

}  // namespace headscope::attention

#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// What a model guesses of each token of a text, and how far it is off.
struct TextLoss {
  std::vector<Index> guess;        ///< [n] the likeliest behind each token (of an encoder: in its place)
  std::vector<float> probability;  ///< [n] of that guess
  std::vector<float> loss;         ///< [n] nats of the token that really follows; NaN behind the last
  double mean = 0;                 ///< of `loss`, nats a token; NaN where nothing follows
};

/// A model's text under the scene's changes.
struct LossQuestion {
  ModelQuestion model;
  /// Whose guesses are followed: `probability` is then that of its guesses. Null: of the own.
  std::shared_ptr<const TextLoss> followed;
  bool operator==(const LossQuestion&) const = default;
};

/// Pure. Errors: what the text and the pass refuse, and a model without a head to guess with.
attention::Result<std::shared_ptr<const TextLoss>> textLoss(const LossQuestion& question,
                                                            Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app

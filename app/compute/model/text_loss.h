#pragma once

#include "app/compute/model/model_study.h"

namespace headscope::app {

/// A model's predictions for the tokens of a text, and how far off they are.
struct TextLoss {
  std::vector<Index> guess;        ///< [n] the most likely token after each (for an encoder: at each)
  std::vector<float> probability;  ///< [n] of that prediction, or of the one followed
  std::vector<float> loss;         ///< [n] in nats, of the token that actually follows; NaN after the last
  double mean = 0;                 ///< of `loss`, nats per token; NaN if nothing follows
};

/// A model's text with the scene's changes.
struct LossQuestion {
  ModelQuestion model;
  /// If set, `probability` is that of these predictions; null = of the model's own.
  std::shared_ptr<const TextLoss> followed;
  bool operator==(const LossQuestion&) const = default;
};

/// Pure. Returns an Error if the text is invalid, the pass fails, or the model makes no predictions.
attention::Result<std::shared_ptr<const TextLoss>> textLoss(const LossQuestion& question,
                                                            Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app

#pragma once

#include <string>

#include "app/compute/model/model_study.h"

namespace headscope::app {

// A model's predictions, read from its residual stream after any layer (the "logit lens", nostalgebraist
// 2020: the stream through the model's own final norm and head). A stop is a point in the stream: 0 is the
// embedding, l + 1 is after layer l.

// For a picture, the prediction is its class: ids are those of VisionConfig::classes, for any query. A
// decoder predicts the token after a position, an encoder the token at it; read "next" and "follows" below
// accordingly.

/// A token and its probability.
struct Prediction {
  Index id = -1;
  float probability = 0;
  float unchanged = -1;  ///< without the scene's changes of the model; −1 if there are none
};

/// A question about the prediction at one token and stop.
struct PredictionQuestion {
  std::shared_ptr<const ModelStudy> study;
  std::shared_ptr<const StreamStudy> unchanged;  ///< null if the scene changes nothing
  Index query = 0, stop = 0;
  bool operator==(const PredictionQuestion&) const = default;
};
struct TokenPredictions {
  std::vector<Prediction> best;    ///< the most likely at the stop, at most kBest
  std::vector<Prediction> lens;    ///< the most likely at each stop
  std::optional<Prediction> real;  ///< the token that actually follows
  /// The most likely token without the scene's changes, if they made a different one most likely.
  std::optional<Prediction> former;
  Index rank = 0;  ///< of `real`, from 1
  /// The token generated instead of the most likely one after the last layer, because of a rule.
  struct RuleOverride {
    Index id = -1;
    std::string rule;  ///< its field in the model's files
  };
  std::optional<RuleOverride> ruled;
  static constexpr Index kBest = 5;
};
attention::Result<TokenPredictions> predictTokens(const PredictionQuestion& question, std::stop_token stop);

/// A question about how well each next token is predicted at one stop.
struct StripQuestion {
  std::shared_ptr<const ModelStudy> study;
  std::shared_ptr<const StreamStudy> unchanged;
  Index stop = 0;
  bool operator==(const StripQuestion&) const = default;
};
struct StripPrediction {
  Index top = -1;  ///< the most likely next token; −1 if probabilities aren't finite
  float real = 0;  ///< probability of the token that follows; 0 for the last token
  float unchanged = -1;
  Index rank = 0;
  float loss = 0;  ///< in nats
};
/// Returns one value per token, [n].
attention::Result<std::vector<StripPrediction>> predictStrip(const StripQuestion& question,
                                                             std::stop_token stop);

/// A question about a token's probability if more heads were switched off.
struct ForecastQuestion {
  std::shared_ptr<const ModelStudy> study;
  Index query = 0, id = -1;
  std::vector<SwitchedHead> heads;  ///< in addition to those already off
  bool operator==(const ForecastQuestion&) const = default;
};
/// Returns the probability of `id` after the query.
attention::Result<float> forecast(const ForecastQuestion& question, Resources& resources,
                                  std::stop_token stop);

/// Returns the size of one head's output at a token, ‖head·W_O‖ / ‖stream before the layer‖.
float headShare(const ModelStudy& study, Index layer, Index head, Index query);

}  // namespace headscope::app

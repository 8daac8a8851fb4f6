#pragma once

#include <string>

#include "app/compute/model/model_study.h"

namespace headscope::app {

// What a model would say next, read off its residual stream after any layer (the "logit lens", nostalgebraist
// 2020: the stream through the model's own final norm and head). A stop is a place on the stream: 0 is the
// embedding, l + 1 comes after layer l.

// Of a picture the guess is about its class: ids are those of PictureTokens::classes, whatever the query.
// A decoder guesses the token behind a position, an encoder the one that stands there ("next" and "follows"
// below are to be read so).

/// A token and its probability.
struct Guess {
  Index id = -1;
  float probability = 0;
  float unchanged = -1;  ///< without the scene's changes of the model; −1 where it has none
};

/// What is asked about one token's next.
struct GuessQuestion {
  std::shared_ptr<const ModelStudy> study;
  std::shared_ptr<const StreamStudy> unchanged;  ///< null where the scene changes nothing
  Index query = 0, stop = 0;
  bool operator==(const GuessQuestion&) const = default;
};
struct Guesses {
  std::vector<Guess> best;    ///< the likeliest at the stop, at most kBest
  std::vector<Guess> lens;    ///< the likeliest at each stop
  std::optional<Guess> real;  ///< the token that does follow
  /// The likeliest without the scene's changes, where these made another one likelier.
  std::optional<Guess> former;
  Index rank = 0;  ///< of it, from 1
  /// The token that is generated instead of the likeliest after the last layer, as a rule has it.
  struct Ruled {
    Index id = -1;
    std::string rule;  ///< its field in the model's files
  };
  std::optional<Ruled> ruled;
  static constexpr Index kBest = 5;
};
attention::Result<Guesses> guess(const GuessQuestion& question, std::stop_token stop);

/// How well each token's next was foreseen, at one stop.
struct StripQuestion {
  std::shared_ptr<const ModelStudy> study;
  std::shared_ptr<const StreamStudy> unchanged;
  Index stop = 0;
  bool operator==(const StripQuestion&) const = default;
};
struct Foreseen {
  Index top = -1;  ///< the likeliest next; −1 where probabilities aren't numbers
  float real = 0;  ///< probability of the one that follows; of the last token 0
  float unchanged = -1;
  Index rank = 0;
  float loss = 0;  ///< nats
};
/// [n]
attention::Result<std::vector<Foreseen>> foresee(const StripQuestion& question, std::stop_token stop);

/// What a guess would keep if heads were switched off.
struct ForecastQuestion {
  std::shared_ptr<const ModelStudy> study;
  Index query = 0, id = -1;
  std::vector<SwitchedHead> heads;  ///< besides those that are off
  bool operator==(const ForecastQuestion&) const = default;
};
/// The probability of `id` behind the query.
attention::Result<float> forecast(const ForecastQuestion& question, Resources& resources,
                                  std::stop_token stop);

/// Size of what one head writes into the stream at a token, ‖head·W_O‖ / ‖stream before the layer‖.
float headShare(const ModelStudy& study, Index layer, Index head, Index query);

}  // namespace headscope::app

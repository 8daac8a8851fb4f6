#pragma once

#include <cstdint>
#include <functional>

#include "attention/models/session.h"

namespace headscope::attention {

/// How the next token is chosen from its logits: the likeliest at temperature 0; else at random from
/// softmax(logits / temperature), of which only the topK likeliest count, and of these only as many as hold
/// topP of what is left (Fan et al. 2018; Holtzman et al. 2020). Deterministic in `seed` and the position.
struct Sampling {
  double temperature = 0;
  Index topK = 0;  ///< 0: all
  double topP = 1;
  std::uint64_t seed = 0;
  bool operator==(const Sampling&) const = default;
};

/// The first thing about it that can't be.
Status validate(const Sampling& sampling);

/// The id for a position. Of equal logits the lower id is the likelier; NaN counts as −inf. An error where no
/// logit is a number.
Result<Index> chooseToken(const Eigen::Ref<const Eigen::RowVectorXf>& logits, const Sampling& sampling,
                          Index position);

/// Writes on from the session's text: chooses a token from the last row's logits under the model's rules
/// (ModelConfig::generation), appends it, and so on, up
/// to `count` tokens or one that ends the text (which is appended too). `logits` are the last row's. Tells
/// onToken of every token with its pass; false ends it. Errors: those of ModelSession::append(), of
/// validate(), a model without a head; the tokens so far stay in the session.
Status generate(ModelSession& session, Matrix logits, Index count, const Sampling& sampling,
                const PassRequest& request,
                const std::function<bool(Index id, const PassResult& pass)>& onToken,
                const std::stop_token& stop = {});

}  // namespace headscope::attention

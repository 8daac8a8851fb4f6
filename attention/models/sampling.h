#pragma once

#include <cstdint>
#include <functional>

#include "attention/models/session.h"

namespace headscope::attention {

/// How the next token is chosen from its logits. Temperature 0 takes the most likely token. Otherwise the
/// token is drawn from softmax(logits / temperature), limited to the topK most likely tokens and then to the
/// fewest of those that hold a share topP of their probability (Fan et al. 2018; Holtzman et al. 2020).
/// Deterministic in `seed` and the position.
struct Sampling {
  double temperature = 0;
  Index topK = 0;  ///< 0: all
  double topP = 1;
  std::uint64_t seed = 0;
  bool operator==(const Sampling&) const = default;
};

/// Returns an Error for the first invalid field.
Status validate(const Sampling& sampling);

/// Chooses the token id at a position. Of equal logits the lower id ranks first; NaN counts as −inf. Returns
/// an Error if every logit is NaN or −inf.
Result<Index> chooseToken(const Eigen::Ref<const Eigen::RowVectorXf>& logits, const Sampling& sampling,
                          Index position);

/// Continues the session's text: chooses a token from the last row's logits under the model's rules
/// (ModelConfig::generation), appends it and repeats, for up to `count` tokens or until a token that ends the
/// text (which is also appended). `logits` are the last row's. Calls onToken with each token and its pass;
/// generation stops if it returns false. Returns an Error of ModelSession::append() or validate(), or if the
/// model has no head; tokens appended so far stay in the session.
Status generate(ModelSession& session, Matrix logits, Index count, const Sampling& sampling,
                const PassRequest& request,
                const std::function<bool(Index id, const PassResult& pass)>& onToken,
                const std::stop_token& stop = {});

}  // namespace headscope::attention

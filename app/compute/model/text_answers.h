#pragma once

#include "app/compute/model/text_study.h"

namespace headscope::app {

// The texts and answers of a study as the model's tokens.

/// Replaces given ids by their texts in `out.asked`, and fills in the answers' ids, `shared`, and the tokens
/// that `question` compares. Returns an Error if the tokenizer reads a text otherwise than its ids, if an
/// answer begins with the other, or if answers of several tokens don't follow the text.
attention::Status readAnswers(const OpenModel& opened, StudiedHeads& out, PairQuestion& question);
/// −ln p of a token.
double surprise(const Eigen::Ref<const Eigen::RowVectorXf>& logits, Index id);
/// Fills in the answers' texts and log probabilities, those that were left open as the pair chose them.
attention::Status describeAnswers(const PairStudy& pair, StudiedHeads& out, const std::stop_token& stop);

}  // namespace headscope::app

#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/compute/model/model_study.h"
#include "app/scene/scene.h"
#include "attention/models/attribution.h"
#include "attention/models/token_alignment.h"

namespace headscope::app {

/// One or two texts in a model, and which two tokens it is asked to tell apart after the last one.
struct PairQuestion {
  ModelQuestion text;  ///< A, under the scene's changes of the model
  /// B; empty: there is A alone. Of an encoder–decoder the encoder's, after which the decoder's text is A's;
  /// where the encoder's output is given, the decoder's.
  SharedText other;
  /// −1: A's likeliest next token; and B's, or where that is the same, or there is no B, A's second.
  Index answer = -1, otherAnswer = -1;
  std::vector<attention::TokenTie> ties = {};  ///< tokens that go together beside those that are equal
  bool operator==(const PairQuestion&) const = default;
};

/// The text that others are put in the place of: the typed one; of a decoder whose encoder's output is given,
/// the decoder's.
SharedText& comparedText(Setup& setup);
/// The setup of text B beside A's. Of an encoder–decoder B goes to the encoder, and the decoder's text is
/// A's, `decoderIds`: what differs between them is then what the encoder read.
Setup otherText(Setup setup, const SharedText& other, const std::vector<Index>& decoderIds);
/// The pair that a scene asks about.
PairQuestion pairQuestion(const Scene& scene);

/// A text with everything that its pass through the model left behind.
struct RecordedText {
  ModelText text;
  attention::PassRequest request;  ///< what the scene changes, without anything that is to be kept
  std::shared_ptr<const attention::PassResult> run;
  double difference = 0;  ///< logit of the answer less that of the other, after the last token

  Index tokens() const { return static_cast<Index>(text.ids.size()); }
};

struct PairStudy {
  PairQuestion question;
  std::shared_ptr<const OpenModel> opened;
  RecordedText a;
  std::optional<RecordedText> b;
  std::shared_ptr<const std::vector<Index>> bOfA, aOfB;  ///< which token goes with which; null without B
  /// The same of the encoder's tokens; null where cross heads aren't looked at.
  std::shared_ptr<const std::vector<Index>> sourceBofA, sourceAofB;
  attention::Answers answers;
  MemoryShare memory;

  const attention::Model& model() const { return *opened->model; }
  /// Which keys of heads go with which, and the keys' tokens.
  const std::vector<Index>& keyBofA() const { return sourceBofA ? *sourceBofA : *bOfA; }
  const std::vector<Index>& keyAofB() const { return sourceAofB ? *sourceAofB : *aOfB; }
  const std::vector<attention::Token>& keyTokens(const RecordedText& text) const {
    return opened->config().cross() ? text.text.source : text.text.tokens;
  }
  const std::vector<Index>& keyIds(const RecordedText& text) const {
    return opened->config().cross() ? text.text.sourceIds : text.text.ids;
  }
};

/// Records the texts. Errors: a model without guesses, texts that are empty or that the tokenizer refuses,
/// what the pass refuses and what doesn't fit into memory, each with the text it belongs to; "stopped".
attention::Result<PairStudy> studyPair(const PairQuestion& question, Resources& resources,
                                       std::stop_token stop);

/// Runs of a text that go through the model together.
Index runsTogether(const RecordedText& text);
/// The logits after the last token of patched runs, [runs, vocabulary]; layers before their first patch are
/// those that were recorded.
attention::Result<attention::Matrix> patchedLogits(const OpenModel& opened, const RecordedText& text,
                                                   std::vector<std::vector<attention::Patch>> runs,
                                                   const std::stop_token& stop);

/// The likeliest tokens after a text, at most `most`, the likeliest first.
std::vector<Index> likeliestTokens(const RecordedText& text, std::size_t most);
/// logits[answer] − logits[other], or the answer's alone.
double answerDifference(const Eigen::Ref<const Eigen::RowVectorXf>& logits,
                        const attention::Answers& answers);

}  // namespace headscope::app

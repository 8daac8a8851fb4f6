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

/// One or two texts for a model, and the two next tokens to compare.
struct PairQuestion {
  ModelQuestion text;  ///< A, with the scene's changes of the model
  /// B; empty = only A. For an encoder–decoder, the encoder's text, while the decoder keeps A's text; if the
  /// encoder's output is given, the decoder's text.
  SharedText other;
  /// −1: A's most likely next token; and B's, or A's second most likely if that is the same or there is no B.
  Index answer = -1, otherAnswer = -1;
  std::vector<attention::TokenTie> ties = {};  ///< tokens that correspond in addition to equal ones
  bool operator==(const PairQuestion&) const = default;
};

/// Returns the text to replace in comparisons: the typed one, or the decoder's if the encoder's output is
/// given.
SharedText& comparedText(Setup& setup);
/// Returns the setup of text B. For an encoder–decoder, B goes to the encoder while the decoder's text is
/// A's, `decoderIds`, so that only the encoder's text differs.
Setup otherText(Setup setup, const SharedText& other, const std::vector<Index>& decoderIds);
/// Returns the pair that a scene compares.
PairQuestion pairQuestion(const Scene& scene);

/// A text with everything recorded from its pass through the model.
struct RecordedText {
  ModelText text;
  attention::PassRequest request;  ///< the scene's changes only; no request to keep anything
  std::shared_ptr<const attention::PassResult> run;
  double difference = 0;  ///< logit of the answer minus that of the other answer, after the last token

  Index tokens() const { return static_cast<Index>(text.ids.size()); }
};

struct PairStudy {
  PairQuestion question;
  std::shared_ptr<const OpenModel> opened;
  RecordedText a;
  std::optional<RecordedText> b;
  std::shared_ptr<const std::vector<Index>> bOfA, aOfB;  ///< corresponding tokens; null without B
  /// The same for the encoder's tokens; null unless the heads are cross heads.
  std::shared_ptr<const std::vector<Index>> sourceBofA, sourceAofB;
  attention::Answers answers;
  MemoryShare memory;

  const attention::Model& model() const { return *opened->model; }
  /// Corresponding keys of the heads, and the keys' tokens.
  const std::vector<Index>& keyBofA() const { return sourceBofA ? *sourceBofA : *bOfA; }
  const std::vector<Index>& keyAofB() const { return sourceAofB ? *sourceAofB : *aOfB; }
  const std::vector<attention::Token>& keyTokens(const RecordedText& text) const {
    return opened->config().cross() ? text.text.source : text.text.tokens;
  }
  const std::vector<Index>& keyIds(const RecordedText& text) const {
    return opened->config().cross() ? text.text.sourceIds : text.text.ids;
  }
};

/// Records the texts. Returns an Error that names the text if the model makes no predictions, a text is empty
/// or can't be tokenized, the pass fails, or memory is insufficient, or "stopped" if `stop` is requested.
attention::Result<PairStudy> studyPair(const PairQuestion& question, Resources& resources,
                                       std::stop_token stop);

/// Returns how many runs of a text go through the model together.
Index runsPerPass(const RecordedText& text);
/// Returns the logits after the last token of patched runs, [runs, vocabulary]. Layers before the first patch
/// are taken from the recording.
attention::Result<attention::Matrix> patchedLogits(const OpenModel& opened, const RecordedText& text,
                                                   std::vector<std::vector<attention::Patch>> runs,
                                                   const std::stop_token& stop);

/// Returns the most likely tokens after a text, at most `most`, most likely first.
std::vector<Index> likeliestTokens(const RecordedText& text, std::size_t most);
/// Returns logits[answer] − logits[other], or only the answer's if there is no other.
double answerDifference(const Eigen::Ref<const Eigen::RowVectorXf>& logits,
                        const attention::Answers& answers);

}  // namespace headscope::app

#pragma once

#include "app/compute/model/model_study.h"
#include "attention/models/circuits.h"

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

/// The model's prediction after every token, read from its stream after every layer (the "logit lens",
/// nostalgebraist 2020).
struct LensQuestion {
  std::shared_ptr<const PairStudy> pair;
  bool ofB = false;
  bool operator==(const LensQuestion&) const = default;

  const RecordedText& text() const { return ofB ? *pair->b : pair->a; }
};
struct LensMap {
  /// [stops, tokens]; a stop is a point in the residual stream: 0 is the embedding, l + 1 is after layer l.
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> top;
  attention::Matrix probability;  ///< of the most likely token
  attention::Matrix answer;       ///< of the answer
  attention::Matrix difference;   ///< of the answers' logits
};
attention::Result<LensMap> mapLens(const LensQuestion& question, std::stop_token stop);

/// A question about what each part of the model adds to the logit difference of the answers, for each text.
struct AttributionQuestion {
  std::shared_ptr<const PairStudy> pair;
  bool operator==(const AttributionQuestion&) const = default;
};
struct AttributionStudy {
  attention::Attribution a;
  std::optional<attention::Attribution> b;
};
attention::Result<AttributionStudy> studyAttribution(const AttributionQuestion& question,
                                                     std::stop_token stop);

/// Returns the name of a contribution's source: "head 3.1", "MLP 2", "embedding", "final norm's bias".
std::string writerText(const attention::Contribution& part);

/// The source and target of patches.
struct PatchSides {
  std::shared_ptr<const PairStudy> pair;  ///< has both texts
  bool intoA = false;                     ///< true = pieces of B go into A, false = pieces of A into B
  bool operator==(const PatchSides&) const = default;

  const RecordedText& into() const { return intoA ? pair->a : *pair->b; }
  const RecordedText& from() const { return intoA ? *pair->b : pair->a; }
  attention::Patch patch(const KeptPatch& kept) const;
  /// Returns how far a logit difference has moved from the patched text's own (0) to the other's (1). NaN if
  /// the two are equal.
  double recovered(double difference) const;
};

/// The head where a path starts.
struct PathStart {
  Index layer = 0, head = 0;
  bool operator==(const PathStart&) const = default;
};

/// A grid of patches. Each place of a piece is patched separately: every head or every token of every layer.
struct PatchGridQuestion {
  PatchSides sides;
  attention::Piece piece = attention::Piece::head;
  bool byToken = false;  ///< columns are tokens, all heads of a layer together; always for streams and MLPs
  /// If set, patches only the direct effect of this head of the other text on queries, keys or values, with
  /// all other heads and MLPs held fixed ("path patching"; Wang et al. 2022, Goldowsky-Dill et al. 2023).
  std::optional<PathStart> path = {};
  bool operator==(const PatchGridQuestion&) const = default;

  Index rows() const;     ///< layers; for the stream one more, after the last layer
  Index columns() const;  ///< heads, kv heads or tokens
  bool columnsAreTokens() const;
};
struct PatchGrid {
  /// [rows, columns]: the logit difference with the patch, and recovered() of it. NaN = not yet computed, or
  /// the token has no counterpart.
  attention::Matrix difference, recovered;
  Index done = 0, of = 0;  ///< patched runs
};
/// Fills the grid in batches, starting with the row closest to `nearest()`; calls `onPart` with the grid at
/// the start and after each batch. Returns an Error if a pass fails, or "stopped" if `stop` is requested.
attention::Result<PatchGrid> computePatchGrid(const PatchGridQuestion& question,
                                              const std::function<Index()>& nearest,
                                              const std::function<void(const PatchGrid&)>& onPart,
                                              std::stop_token stop);

/// A question about the effect of several patches, together and separately.
struct PatchSumQuestion {
  PatchSides sides;
  std::vector<KeptPatch> patches;
  bool operator==(const PatchSumQuestion&) const = default;
};
struct PatchSum {
  double together = 0;                        ///< the logit difference with all patches
  std::vector<double> single;                 ///< with each patch alone
  std::vector<std::pair<Index, float>> best;  ///< the most likely next tokens with all patches
};
attention::Result<PatchSum> sumPatches(const PatchSumQuestion& question, std::stop_token stop);

}  // namespace headscope::app

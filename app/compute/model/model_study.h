#pragma once

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/model/layer_summary.h"

namespace headscope::app {

/// What a model or a synthetic stack is run on: the scene's text with the scene's changes. Fields that have
/// no effect keep their defaults, so that changing them requests nothing new.
struct ModelQuestion {
  Setup setup;
  Index sequence = 0;  ///< of a synthetic stack: the line of the batch
  bool operator==(const ModelQuestion&) const = default;
};
ModelQuestion modelQuestion(const Setup& setup, Index sequence = 0);
/// The same without the scene's changes.
ModelQuestion unchangedQuestion(const Setup& setup);

/// All layers and heads of a model on one text.
struct ModelStudy {
  ModelQuestion question;
  std::shared_ptr<const OpenModel> opened;  ///< the model run: the scene's, or its stack; null without a text
  ModelText text;                           ///< a stack has no vocabulary: its ids are −1
  attention::Matrix embedded;               ///< [n, modelDim], the stream before the first layer
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  attention::Matrix lastLogits;  ///< [1, vocabulary] after the last token; empty if the model has no head
  /// Keys and values of all layers as a picture: 2 × [layers · kvHeads, n · bands], each row over its largest
  /// |value|.
  attention::Stack cache;
  Index bands = 0;
  /// If the tokens are a picture's: [layers] of [n, n], attention::Rollout up to each layer.
  std::vector<attention::Matrix> rollout;
  bool unweighed = false;  ///< whether recorded weights have values in the colour of NaN
  std::string notFinite;   ///< why layers or predictions aren't all finite, or how recorded weights differ
                           ///< from a softmax's, in sentences; "" = they are as expected
  float aroundZero = 0;    ///< the largest LayerSummary::aroundZero
  double seconds = 0;
  std::uint64_t bytes = 0;
  MemoryShare memory;

  /// The queries of recorded attention if they differ from the keys; otherwise empty.
  std::vector<attention::Token> otherQueries;
  std::vector<attention::Token> otherKeys;  ///< the encoder's text, for a decoder's cross heads; else empty

  Index tokens() const { return static_cast<Index>(text.ids.size()); }
  const std::vector<attention::Token>& queryTokens() const {
    return otherQueries.empty() ? text.tokens : otherQueries;
  }
  const std::vector<attention::Token>& keyTokens() const {
    return otherKeys.empty() ? text.tokens : otherKeys;
  }
  Index keys() const { return static_cast<Index>(keyTokens().size()); }
  Index queries() const { return static_cast<Index>(queryTokens().size()); }
};

/// Returns the text that detectors judge the study's heads by: tokens are the same if their ids are.
attention::HeadText headTextOf(const ModelStudy& study, Index firstPosition);

/// Fills in the rollout of a study whose tokens are a picture's.
void addRollout(ModelStudy& study, const std::stop_token& stop);

/// Returns B's counterparts of A's tokens: those with equal ids, or equal words for recordings, and those the
/// user tied.
PartnersInB partnersInB(const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties);
/// Returns comparedLayer() of all layers. Returns an Error if the numbers of layers or heads differ, or
/// "stopped" if `stop` is requested.
attention::Result<std::vector<std::shared_ptr<const LayerSummary>>> comparedLayers(
    const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties, bool difference,
    std::stop_token stop);

/// Runs a model on successive questions. If a question continues the previous text under the same changes,
/// only the new tokens are computed, using the KV cache. Not thread-safe.
class ModelRunner {
 public:
  using OnLayer = std::function<void(Index layer, std::shared_ptr<const LayerSummary>)>;

  /// Runs the model. `onLayer` is called for each finished layer, on the calling thread. Returns an Error if
  /// the tokenizer, a mask or the pass fails or memory is insufficient, or "stopped" if `stop` is requested.
  attention::Result<ModelStudy> run(const ModelQuestion& question, Resources& resources,
                                    const OnLayer& onLayer, std::stop_token stop);

 private:
  /// Returns how many tokens of the previous text can be kept.
  Index keptTokens(const ModelQuestion& question, const ModelText& text) const;
  /// Runs the tokens after the first `kept` through all layers and fills in the study.
  attention::Status pass(ModelStudy& study, attention::PassRequest request, Index kept,
                         const OnLayer& onLayer, const std::stop_token& stop);

  std::optional<ModelQuestion> question_;
  std::unique_ptr<attention::ModelSession> session_;
  std::vector<std::shared_ptr<const LayerSummary>> layers_;  ///< for the tokens of session_
  attention::Matrix embedded_;
};

/// The residual streams only, as needed for the unchanged model: [layers + 1] × [n, modelDim], starting with
/// the embedding.
struct StreamStudy {
  ModelQuestion question;
  std::vector<attention::Matrix> streams;
};
attention::Result<StreamStudy> studyStreams(const ModelQuestion& question, Resources& resources,
                                            std::stop_token stop);

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

/// A question about what a model's predictions lose without each of its heads.
struct HeadLossQuestion {
  std::shared_ptr<const ModelStudy> study;
  bool operator==(const HeadLossQuestion&) const = default;
};

/// The tokens whose probability is measured: those the model wrote, the most likely next one if it wrote
/// none, or the text's own tokens, which an encoder predicts.
enum class LossOf { written, next, standing };

struct HeadLosses {
  LossOf of = LossOf::next;
  Index next = -1;  ///< the token of LossOf::next
  /// [layers, heads]: mean probability without the head minus with it, everything else as in the scene.
  /// Negative = the head helps. A head that is already off is compared with being on.
  attention::Matrix change;
};

/// Whether one pass per head of the model takes only about a second, as with the miniature.
bool losesQuickly(const ModelStudy& study);

/// Runs one pass per head. Returns an Error if a pass fails, or "stopped" if `stop` is requested.
attention::Result<HeadLosses> headLosses(const HeadLossQuestion& question, Resources& resources,
                                         std::stop_token stop);

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

/// Studies attention recorded by another program: weights, labels and entropies, and nothing that needs a
/// model. Returns an Error if the file can't be read, has more tokens than can be shown, or doesn't fit into
/// memory, or "stopped" if `stop` is requested.
attention::Result<ModelStudy> studyRecorded(const ModelQuestion& question, Resources& resources,
                                            const ModelRunner::OnLayer& onLayer, std::stop_token stop);

/// What was assumed or left out when the recording was opened, and how its weights differ from a softmax's, a
/// sentence each. Reads all weights.
std::vector<std::string> recordedNotes(const attention::RecordedAttention& file);

/// Returns the scene's layer of recorded attention, for pictures and files: weights, what heads do, and q, k,
/// v and the heads' outputs if the file has them. Scores aren't recorded: they are 0, or −inf where the mask
/// hides the key. Its pictures mark values that are no weights. Its error is studyRecorded()'s.
Snapshot recordedSnapshot(const Setup& setup, Resources& resources, std::stop_token stop = {});

/// One head of recorded attention that has queries and keys.
struct RecordedQuestion {
  std::shared_ptr<const ModelStudy> study;
  Index layer = 0, head = 0;
  bool operator==(const RecordedQuestion&) const = default;
};

/// How a recorded head's weights follow from its q and k. The file states neither the scale nor what was
/// added to the scores, so the scale is found by trial.
struct RecordedRule {
  double scale = 0;          ///< the factor of q·k that explains the weights best
  bool byRootOfDim = false;  ///< whether it is 1/√headDim
  bool sink = false;         ///< the softmax times each row's sum, whose rest a sink takes
  double apart = 0;          ///< largest |softmax(scale·q·k over the keys with weight) − weight|
  bool explains() const { return apart <= 2e-3; }  ///< within the rounding of half-precision weights
};

/// Tries 1/√headDim first, then the least-squares scale s in log A_ij = s·q_i·k_j + c_i, then both with a
/// sink. Returns an Error if the file has no q and k, or "stopped" if `stop` is requested.
attention::Result<RecordedRule> recordedRule(const RecordedQuestion& question, std::stop_token stop);

/// The computation of one weight of such a head.
struct RecordedReceipt {
  attention::Vector terms;    ///< [headDim], q_d·k_d
  double dot = 0, score = 0;  ///< Σ terms; that times the scale
  Index keys = 0;             ///< number of keys with weight in the row
  double logSum = 0;          ///< ln Σ_j exp(score_j) over these keys
  double share = 1;           ///< of the row that a sink leaves to its keys
  float weight = 0, recorded = 0;
  attention::Vector mixed;   ///< [headDim], recorded · v; empty if the file has no v
  attention::Vector output;  ///< [headDim], Σ_j recorded_j · v_j; empty if the file has no v
};
RecordedReceipt recordedReceipt(const LayerSummary& layer, Index head, Index query, Index key,
                                const RecordedRule& rule);

}  // namespace headscope::app

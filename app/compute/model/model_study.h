#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "app/compute/layer/model_pass.h"
#include "app/compute/layer/resources.h"
#include "app/compute/model/layer_summary.h"
#include "attention/models/token_alignment.h"

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
  std::string notFinite;  ///< why layers or predictions aren't all finite, or how recorded weights differ
                          ///< from a softmax's, in sentences; "" = they are as expected
  float aroundZero = 0;  ///< the largest LayerSummary::aroundZero
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

}  // namespace headscope::app

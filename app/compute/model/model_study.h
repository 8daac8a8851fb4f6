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

/// What a model, or a stack that is made here, is asked: the scene's text under the scene's changes. What
/// takes no part is left at its default, so that changing it asks for nothing new.
struct ModelQuestion {
  Setup setup;
  Index sequence = 0;  ///< of a stack that is made here: which line of the batch
  bool operator==(const ModelQuestion&) const = default;
};
ModelQuestion modelQuestion(const Setup& setup, Index sequence = 0);
/// The same without the scene's changes.
ModelQuestion unchangedQuestion(const Setup& setup);

/// All layers and heads of a model on one text.
struct ModelStudy {
  ModelQuestion question;
  std::shared_ptr<const OpenModel> opened;  ///< that was run: the scene's, or its stack; null without a text
  ModelText text;                           ///< ids of a stack are −1: it has no vocabulary
  attention::Matrix embedded;               ///< [n, modelDim], the stream before the first layer
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  attention::Matrix lastLogits;  ///< [1, vocabulary] behind the last token; empty without a head
  /// Keys and values of all layers as a picture: 2 × [layers · kvHeads, n · bands], over the largest |value|.
  attention::Stack cache;
  Index bands = 0;
  /// Of tokens that are a picture's, [layers] of [n, n]: attention::Rollout up to each layer.
  std::vector<attention::Matrix> rollout;
  std::string notFinite;  ///< why numbers of a model's layers or guesses aren't, in a sentence; "": they are
  double seconds = 0;
  std::uint64_t bytes = 0;
  MemoryShare memory;

  /// Of recorded attention from one text to another the queries; else empty.
  std::vector<attention::Token> otherQueries;
  std::vector<attention::Token> otherKeys;  ///< of a decoder's cross heads the encoder's text; else empty

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

/// Fills in the rollout of a study whose tokens are a picture's.
void addRollout(ModelStudy& study, const std::stop_token& stop);

/// Which tokens of B go with A's: equal ids, of recordings equal words, and what a person tied.
PartnersInB partnersInB(const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties);
/// The heads of B as comparedLayer() has them. Errors: other numbers of layers or heads; "stopped".
attention::Result<std::vector<std::shared_ptr<const LayerSummary>>> comparedLayers(
    const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties, bool difference,
    std::stop_token stop);

/// Runs a model on one question after another, on one thread at a time. Where a question continues the text
/// of the one before under the same changes, only the new tokens are computed, through the KV cache.
class ModelRunner {
 public:
  using OnLayer = std::function<void(Index layer, std::shared_ptr<const LayerSummary>)>;

  /// Told of each layer as it comes, on the calling thread. Errors: what the tokenizer, masks and the pass
  /// refuse, and what doesn't fit into memory; "stopped".
  attention::Result<ModelStudy> run(const ModelQuestion& question, Resources& resources,
                                    const OnLayer& onLayer, std::stop_token stop);

 private:
  /// How many tokens of the text before stay as they are.
  Index keptTokens(const ModelQuestion& question, const ModelText& text) const;
  /// Runs the tokens behind the first `kept` through all layers, and fills the study in.
  attention::Status pass(ModelStudy& study, attention::PassRequest request, Index kept,
                         const OnLayer& onLayer, const std::stop_token& stop);

  std::optional<ModelQuestion> question_;
  std::unique_ptr<attention::ModelSession> session_;
  std::vector<std::shared_ptr<const LayerSummary>> layers_;  ///< of session_'s tokens
  attention::Matrix embedded_;
};

/// The residual streams alone: what the unchanged model is asked for. [layers + 1] × [n, modelDim], the
/// embedding first.
struct StreamStudy {
  ModelQuestion question;
  std::vector<attention::Matrix> streams;
};
attention::Result<StreamStudy> studyStreams(const ModelQuestion& question, Resources& resources,
                                            std::stop_token stop);

}  // namespace headscope::app

#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>

#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// A checkpoint, opened, or what was made in memory: its config, and its weights where they lie. Move-only;
/// several threads may use one at once. What runs it is ModelSession (session.h).
class Model {
 public:
  /// Opens a folder as Hugging Face lays it out: config.json, generation_config.json if there is one, and
  /// model.safetensors or its shards; or a GGUF file. Reads a few MB, whatever the model's size. Errors, each
  /// in one sentence: a folder or file that is missing, what readModelConfig(), Checkpoint, GgufSource,
  /// ggufConfig() and ModelWeights refuse. Of an encoder–decoder the name says whose heads are looked at,
  /// "t5-small#decoder" (groupedPath).
  static Result<Model> open(const std::filesystem::path& path);
  /// Of weights that lie in memory, which `owner` keeps there. The vocabulary is what the embedding has rows.
  /// Where some lie in the checkpoint of another model, `of` is that.
  static Model made(ModelConfig config, ModelWeights weights, std::shared_ptr<const void> owner,
                    std::shared_ptr<const Model> of = nullptr);

  const ModelConfig& config() const { return config_; }
  const ModelWeights& weights() const { return weights_; }
  const Checkpoint& checkpoint() const { return of_ ? of_->checkpoint() : checkpoint_; }
  /// What the checkpoint calls its tensors; nothing of what was made in memory.
  const TensorNaming* naming() const { return naming_.get(); }
  /// What a layer's attention is computed with, before a person changes anything.
  AttentionConfig attention(Index layer) const;
  /// Of a decoder that reads: the encoder in the same files; null: its output is to be given.
  const std::shared_ptr<const Model>& source() const { return source_; }
  /// Whether it says anything about tokens: a checkpoint may lack the head for it.
  bool guesses() const { return weights_.head.has_value(); }
  /// Whether it says which of config().picture->classes a picture is of.
  bool classifies() const { return weights_.picture && !weights_.picture->classifiers.empty(); }
  /// Why it does neither, in a sentence; empty where it does.
  std::string whyNoGuesses() const;
  /// Why it can't write a text on, in a sentence; empty where it can.
  std::string whyNoText() const;
  /// Bytes of keys and values, or of latents, that one token adds to a cache of all layers in single
  /// precision. A session keeps what is made of a latent, every head's keys and values.
  std::uint64_t cacheBytesPerToken() const;

  /// An error unless every id is one of the vocabulary and a text of `before` more tokens may have these.
  Status checkTokens(std::span<const Index> ids, Index before) const;
  /// The residual stream before the first layer, [n − first, modelDim], of the tokens from `first` on of a
  /// text of n: embeddings (scaled), positions, types and norm as the family has them. The ids are the
  /// caller's to check.
  Matrix embed(std::span<const Index> text, Index first) const;
  /// The residual stream [n, modelDim] as the head reads it. The same where the family has no final norm.
  Matrix finalNorm(const Matrix& stream) const;
  /// What the model would say next from the residual stream after any layer [n, modelDim]: logits
  /// [n, vocabulary], through its own norm, head and soft-cap; a "logit lens" where the layer isn't the last
  /// (nostalgebraist 2020). Empty where it has no head. Once `stop` is requested the result is undefined.
  Matrix logits(const Matrix& stream, const std::stop_token& stop = {}) const;
  /// Of a model that classifies: logits [1, classes] from the residual stream of all tokens after any layer
  /// [n, modelDim], through its final norm and classifier.
  Matrix classLogits(const Matrix& stream, const std::stop_token& stop = {}) const;

 private:
  Model(Checkpoint checkpoint, ModelConfig config, ModelWeights weights,
        std::shared_ptr<const TensorNaming> naming)
      : checkpoint_(std::move(checkpoint)),
        config_(std::move(config)),
        weights_(std::move(weights)),
        naming_(std::move(naming)) {}
  static Result<Model> openFolder(const std::filesystem::path& folder, std::string_view group);
  static Result<Model> openGguf(const std::filesystem::path& path);
  static Result<Model> of(Checkpoint checkpoint, ModelConfig config, const TensorNaming& naming);

  Checkpoint checkpoint_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const Model> of_;
  ModelConfig config_;
  ModelWeights weights_;
  std::shared_ptr<const TensorNaming> naming_;
  std::shared_ptr<const Model> source_;
};

/// A model's folder and which group of heads its name asks for: "t5#cross" is the group cross of the folder
/// t5. The group is "" where the name says none, or a folder or file has that name itself.
struct GroupedPath {
  std::filesystem::path path;
  std::string group;
};
GroupedPath groupedPath(const std::filesystem::path& name);

}  // namespace headscope::attention

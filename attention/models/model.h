#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/model_config.h"

namespace headscope::attention {

/// An opened checkpoint, or a model made in memory: its config, and its weights, which stay where they are
/// stored. Move-only. Thread-safe. ModelSession (session.h) runs it.
class Model {
 public:
  /// Opens a Hugging Face folder (config.json, generation_config.json if present, and model.safetensors or
  /// its shards) or a GGUF file. Reads a few MB, whatever the model's size. For an encoder–decoder the name
  /// selects the heads to inspect, as in "t5-small#decoder" (groupedPath()). Returns an Error in one sentence
  /// if a folder or file is missing, or if readModelConfig(), Checkpoint, GgufSource, ggufConfig() or
  /// ModelWeights fails.
  static Result<Model> open(const std::filesystem::path& path, const std::filesystem::path& adapter = {});
  /// Makes a model of weights in memory, which `owner` keeps alive. The embedding has one row per vocabulary
  /// entry. `of`: the model whose checkpoint holds some of the weights; null if none does.
  static Model made(ModelConfig config, ModelWeights weights, std::shared_ptr<const void> owner,
                    std::shared_ptr<const Model> of = nullptr);

  /// Makes the tokens from `first` on those of a second text (ModelConfig::secondText).
  void beginSecondText(Index first) { config_.secondText = first; }

  const ModelConfig& config() const { return config_; }
  const ModelWeights& weights() const { return weights_; }
  const Checkpoint& checkpoint() const { return of_ ? of_->checkpoint() : checkpoint_; }
  /// The checkpoint's tensor names; null for a model made only in memory.
  const TensorNaming* naming() const { return naming_.get(); }
  /// The settings of a layer's attention, before any edits.
  AttentionConfig attention(Index layer) const;
  /// For a decoder that reads an encoder: the encoder in the same files, or null if its output has to be
  /// supplied.
  const std::shared_ptr<const Model>& source() const { return source_; }
  /// Whether the model predicts tokens; a checkpoint may lack the head.
  bool predictsTokens() const { return weights_.head.has_value(); }
  /// Whether the model predicts which of config().picture->classes a picture shows.
  bool classifies() const { return weights_.picture && !weights_.picture->classifiers.empty(); }
  /// A sentence on why the model does neither; empty if it does one of them.
  std::string whyNoPredictions() const;
  /// A sentence on why the model can't generate text; empty if it can.
  std::string whyNoText() const;
  /// Bytes that one token's keys and values, or latents, add to a single-precision cache of all layers. A
  /// session caches every head's keys and values even if they are made from a latent.
  std::uint64_t cacheBytesPerToken() const;

  /// Returns an Error unless every id is in the vocabulary and the model has positions for `before` tokens
  /// and these.
  Status checkTokens(std::span<const Index> ids, Index before) const;
  /// Returns the residual stream before the first layer, [n − first, modelDim], for the tokens from `first`
  /// on of a text of n: embeddings (scaled) plus the family's positions, types and norm. The caller checks
  /// the ids.
  Matrix embed(std::span<const Index> text, Index first) const;
  /// Returns the residual stream [n, modelDim] as the head reads it; unchanged if the family has no final
  /// norm.
  Matrix finalNorm(const Matrix& stream) const;
  /// Returns next-token logits [n, vocabulary] from the residual stream [n, modelDim] after any layer,
  /// through the model's own norm, head and soft-cap; a "logit lens" if the layer isn't the last
  /// (nostalgebraist 2020). Empty if the model has no head. Undefined once `stop` is requested.
  Matrix logits(const Matrix& stream, const std::stop_token& stop = {}) const;
  /// For a model that classifies pictures: returns logits [1, classes] from the residual stream of all tokens
  /// [n, modelDim] after any layer, through the final norm and the classifier.
  Matrix classLogits(const Matrix& stream, const std::stop_token& stop = {}) const;

 private:
  Model(Checkpoint checkpoint, ModelConfig config, ModelWeights weights,
        std::shared_ptr<const TensorNaming> naming)
      : checkpoint_(std::move(checkpoint)),
        config_(std::move(config)),
        weights_(std::move(weights)),
        naming_(std::move(naming)) {}
  static Result<Model> openFolder(const std::filesystem::path& folder, std::string_view group,
                                  const std::filesystem::path& adapter);
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

/// A model's folder and the group of heads that its name selects: "t5#cross" is the group `cross` of the
/// folder t5. The group is "" if the name has none, or if a folder or file has that exact name.
struct GroupedPath {
  std::filesystem::path path;
  std::string group;
};
GroupedPath groupedPath(const std::filesystem::path& name);

/// The parts of a model that a pass used.
struct PassParts {
  bool embedding = true;  ///< tables of tokens, positions and types, and their norm
  Index layers = 0;       ///< number of layers, from the first on
  bool head = false;      ///< the final norm and the map to the vocabulary
};

/// The first NaN or infinite number in a checkpoint.
struct TensorFault {
  std::string tensor;     ///< name in the file
  std::string value, at;  ///< "NaN", "infinite", "-infinite" or "beyond 3.4·10³⁸"; indices such as "[2, 5]"
  Index layer = -1;       ///< the tensor's layer; −1: none
};

/// Checks every number of these parts, in the order in which a pass reads them and by tensor name within a
/// part. Returns nothing if all are finite, or once `stop` is requested.
std::optional<TensorFault> findTensorFault(const Model& model, const PassParts& parts,
                                           const std::stop_token& stop = {});

/// Reads the output of an encoder that isn't computed here, such as Whisper's for audio: the memory [m,
/// width] of the decoder that reads it. In a safetensors, .npz or .npy file it is the tensor [m, width] or
/// [1, m, width] called encoder_last_hidden_state, last_hidden_state, encoder_hidden_states, features or
/// array, or else the only tensor. Returns an Error of TensorSource, or if there is no such tensor, its shape
/// is wrong, it has more than 65,536 rows, or a value isn't finite.
Result<std::shared_ptr<const Matrix>> readFeatures(const std::filesystem::path& path, Index width);

}  // namespace headscope::attention

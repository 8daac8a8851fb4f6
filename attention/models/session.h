#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "attention/cache/kv_cache.h"
#include "attention/models/attention_edit.h"
#include "attention/models/block.h"
#include "attention/models/model.h"
#include "attention/models/pass_result.h"
#include "attention/models/patch.h"

namespace headscope::attention {

enum class LogitRows { none, last, all };

/// What is wanted of a pass, and what a person changes of it.
struct PassRequest {
  std::optional<std::vector<Index>> layers;  ///< whose results are kept; nothing: of all
  std::optional<std::vector<Index>> heads;   ///< whose weights are kept, in these layers; nothing: of all
  bool weights = true;
  bool projections = false;  ///< q, k, v and the heads' outputs
  bool input = false;        ///< what the attention looked at reads
  bool hidden = false, between = false, mlp = false;
  LogitRows logits = LogitRows::last;
  std::optional<Index> logitRow = {};  ///< of LogitRows::last: this row of the pass instead
  /// Layers to compute; nothing: all. With fewer there are no logits, and the tokens aren't kept.
  std::optional<Index> depth = {};

  std::vector<AttentionEdit> edits;
  std::vector<Patch> patches;  ///< of every run
  /// Runs of the text beside each other, each with patches of its own after those above: everything of a
  /// result [n, …] is then [runs · n, …], run after run. The text has to be a whole one, and isn't kept.
  /// Empty: one run, that is kept.
  std::vector<std::vector<Patch>> runs;
  /// What the text made without `runs`, with its hidden states: layers before the first patch aren't computed
  /// again, nor told of. Null: all are.
  std::shared_ptr<const PassResult> own = nullptr;
  /// For masks that ask for them: structure of all tokens of the text, how many of them are no padding
  /// (nothing: all), and which line of a batch the text is.
  std::optional<TextStructure> structure;
  std::optional<Index> unpadded = {};
  Index sequence = 0;
  MaskSources sources;  ///< for masks that name paintings or files

  /// Of a decoder that reads: what the encoder made of the other text [m, modelDim], its final norm included
  /// (encoded()). The first pass of a text needs it; later ones have it.
  std::shared_ptr<const Matrix> memory = nullptr;

  /// Told of every layer as soon as it is computed, first to last, on the calling thread.
  std::function<void(const std::shared_ptr<const LayerResult>&)> onLayer;
};

/// Memory that a pass over a whole text of so many tokens takes, its results included; saturates instead of
/// overflowing. The weights, which are the system's to hold, are not in it.
std::uint64_t passBytes(const ModelConfig& config, Index tokens, const PassRequest& request);

/// What an encoder makes of a text, [n, modelDim], its final norm included: the memory of a decoder that
/// reads it. Errors as ModelSession::append() has them.
Result<std::shared_ptr<const Matrix>> encoded(const std::shared_ptr<const Model>& encoder,
                                              std::span<const Index> ids, std::stop_token stop = {});

/// A text in a model: its tokens so far, with the keys and values of every layer, so that a token more costs
/// one row. One thread at a time.
class ModelSession {
 public:
  explicit ModelSession(std::shared_ptr<const Model> model);

  const Model& model() const { return *model_; }
  const std::vector<Index>& tokens() const { return tokens_; }
  Index length() const { return static_cast<Index>(tokens_.size()); }
  /// What the decoder reads, and the keys and values that a layer's cross heads made of it; null before.
  const std::shared_ptr<const Matrix>& memory() const { return memory_; }
  const SourceHeads& sourceHeads(Index layer) const { return *sources_[static_cast<std::size_t>(layer)]; }
  /// Of keys and values.
  const KvCache& cache(Index layer) const { return caches_[static_cast<std::size_t>(layer)]; }

  /// Appends tokens and computes their rows: a whole text, one token, anything between. For an encoder, whose
  /// earlier tokens see later ones, only a whole text is right. Errors, after which the session is as it was:
  /// an id beyond the vocabulary, a text longer than the model's positions, what LayerAttentions and
  /// checkPatch refuse, a layer, head or depth that isn't there, a checkpoint that changed or was lost on
  /// disk, "stopped".
  Result<PassResult> append(std::span<const Index> ids, const PassRequest& request = {},
                            std::stop_token stop = {});
  /// Forgets all tokens from `length` on.
  void truncate(Index length);
  /// Makes room for so many tokens at once.
  void reserve(Index tokens);

 private:
  /// Rows of tokens_, as part of a text of `textTokens`.
  Result<PassResult> run(PassRows rows, Index textTokens, const PassRequest& request,
                         const std::stop_token& stop);
  /// The stream before the pass's first layer.
  Result<Matrix> beginning(std::span<const Index> text, PassRows rows, const PassRequest& request,
                           Index first) const;
  /// The encoder's output that the text is read with; another one than before is refused.
  Status takeMemory(const PassRequest& request);
  Status checkRequest(const PassRequest& request, Index textTokens) const;
  /// Computes what is missing of the cached rows, all of them where keys have to be rotated anew.
  Status fillCaches(Index textTokens, const PassRequest& request, const std::stop_token& stop);
  Index cachedRows() const;

  std::shared_ptr<const Model> model_;
  std::vector<Index> tokens_;
  std::shared_ptr<const Matrix> memory_;
  std::vector<std::optional<SourceHeads>> sources_;  ///< [layers] of a decoder that reads, as they are needed
  std::vector<KvCache> caches_;                      ///< [layers]; behind tokens_ only after a failure
  Index rotatedFor_ = 0;                             ///< tokens of the text that cached keys were rotated for
};

}  // namespace headscope::attention

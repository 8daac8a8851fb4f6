#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "attention/cache/kv_cache.h"
#include "attention/models/attention_edit.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/patch.h"
#include "attention/models/routing.h"

namespace headscope::attention {

/// Keys and values that a layer's cross heads make of an encoder's output, [kvHeads, m, headDim] each: made
/// once, they stay as they are while the decoder's text grows.
struct SourceHeads {
  Stack k, v;
};
SourceHeads sourceHeads(const ModelConfig& config, const LayerWeights& weights, const Matrix& memory,
                        const std::stop_token& stop);

/// One layer of a model and what it is to be computed with: by one run of the text, or by several at once,
/// which differ in their patches and go through the products together.
struct Block {
  const ModelConfig& config;
  Index layer;
  const LayerWeights& weights;
  const LayerAttention& attention;
  const Matrix* rotation;  ///< of the rows' positions; null: positions aren't rotated
  const Rotation* turned;  ///< which dimensions it turns
  Keep keep;
  std::stop_token stop;
  Matrix* input;       ///< takes what the attention looked at reads; null: not wanted
  Stack* otherOutput;  ///< takes the outputs of the heads not looked at; null: not wanted
  Matrix* between;     ///< takes the stream as it is after attention and before the MLP; null: not wanted
  Matrix* mlpAdded;    ///< takes what the MLP adds; null: not wanted
  Routing* routing;    ///< takes which experts the rows went to; null: not wanted
  std::span<const std::vector<Patch>> runs;  ///< the patches of each run
  PatchRows rows;                            ///< of each run
  const LayerAttention* other = nullptr;     ///< of a decoder that reads: the attention not looked at
  const SourceHeads* source = nullptr;       ///< and what its cross heads read

  /// Takes the residual stream x [runs · n, modelDim] through attention and MLP, in the order and with the
  /// norms of the model's family; the rows' keys and values are appended to their run's cache. Gives q, k and
  /// v of these rows (rotated), weights as `keep` says and the heads' outputs, [heads, runs · n, …]; no
  /// output. Once `stop` is requested all is undefined.
  AttentionResult run(Matrix& x, std::span<KvCache> caches) const;

 private:
  /// Queries, keys and values of the rows, before norms and rotations; false once `stop` is requested.
  bool project(const Matrix& x, Stack& q, Stack& k, Stack& v) const;
  bool projectLatent(const Matrix& x, Stack& q, Stack& k, Stack& v) const;
  bool fromLatent(const Matrix& latent, Stack& k, Stack& v) const;
  /// Wo·Attn(x); what is computed on the way goes to `result`.
  Matrix attend(const Matrix& x, std::span<KvCache> caches, AttentionResult& result) const;
  /// Both attentions of a decoder that reads, to its own text first.
  void attendBoth(Matrix& x, std::span<KvCache> caches, AttentionResult& result) const;
  /// The same as attend() of the attention that isn't looked at: nothing is patched or kept.
  Matrix attendOther(const Matrix& x, std::span<KvCache> caches) const;
  /// Each run's attention over its own rows.
  AttentionResult attendRuns(const LayerAttention& how, Stack q, Stack k, Stack v,
                             std::span<KvCache> caches) const;
  /// Each run's attention over what the encoder made.
  AttentionResult attendSource(const LayerAttention& how, Stack q,
                               std::span<const SourceHeads> patched) const;
  /// What each run's cross heads read, where patches replace some of it; else nothing.
  std::vector<SourceHeads> patchedSources() const;
  const SourceHeads& sourceOf(std::span<const SourceHeads> patched, std::size_t run) const {
    return patched.empty() ? *source : patched[run];
  }
  Keep keepOf(std::size_t run) const;
  /// Heads' outputs anew where a pattern was replaced.
  void patchPatterns(AttentionResult& result, std::span<const KvCache> caches,
                     std::span<const SourceHeads> patched) const;
  void patchHeads(Stack& heads, Piece piece) const;
  void patchRows(Matrix& rows, Piece piece) const;
  /// What the MLP adds, after its norm where there is one.
  Matrix added(Matrix y) const;
  /// Of the layer's MLP, or of its mixture of experts.
  Matrix mlp(const Matrix& x) const;
  Matrix norm(const Matrix& x, const NormWeights& weights) const;
  void normQueriesAndKeys(Stack& q, Stack& k) const;
};

}  // namespace headscope::attention

#pragma once

#include <stop_token>

#include "attention/cache/kv_cache.h"
#include "attention/models/attention_edit.h"
#include "attention/models/model_weights.h"

namespace headscope::attention {

/// One layer of a model and what it is to be computed with.
struct Block {
  const ModelConfig& config;
  const LayerWeights& weights;
  const LayerAttention& attention;
  const Matrix* rotation;  ///< of the rows' positions; null: positions aren't rotated
  Keep keep;
  std::stop_token stop;
  Matrix* between;  ///< takes the stream as it is after attention and before the MLP; null: not wanted

  /// Takes the residual stream x [n, modelDim] through attention and MLP, in the order and with the norms of
  /// the model's family; the rows' keys and values are appended to the cache. Gives q, k and v of these rows
  /// (rotated), weights as `keep` says, lse and the heads' outputs; no output. Once `stop` is requested all
  /// is undefined.
  AttentionResult run(Matrix& x, KvCache& cache) const;

 private:
  /// Wo·Attn(x); what is computed on the way goes to `result`.
  Matrix attend(const Matrix& x, KvCache& cache, AttentionResult& result) const;
  /// down(act(up x)), or down(act(gate x) ⊙ up x).
  Matrix mlp(const Matrix& x) const;
  Matrix norm(const Matrix& x, const NormWeights& weights) const;
};

}  // namespace headscope::attention

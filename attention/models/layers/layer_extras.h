#pragma once

#include <optional>
#include <vector>

#include "attention/core/attention.h"
#include "attention/formats/tensor_source.h"
#include "attention/models/block.h"

namespace headscope::attention {

struct AttentionProblem;
struct LayerPlace;
struct ParsedOptions;

/// The maps of multi-head latent attention (DeepSeek-AI 2024) in place of those of queries, keys and values.
struct LatentLayer {
  Linear queryDown;       ///< [queryRank, modelDim]; empty: `query` reads x
  NormWeights queryNorm;  ///< of what queryDown gives
  Linear query;           ///< [heads · headDim, queryRank or modelDim]
  Linear down;            ///< [rank + ropeDim, modelDim]: the latent and the part of all keys that is rotated
  NormWeights norm;       ///< of the latent
  Linear up;  ///< [heads · (headDim − ropeDim + valueDim), rank]: for each head its key and value
  Index rank = 0, ropeDim = 0;
};

/// What a layer does between its input and its scores that AttentionConfig doesn't say.
struct LayerExtras {
  /// Norms of queries and keys: weights [headDim] for all heads, [heads · headDim] for one norm over all
  /// heads (`whole`), or as many for a norm each. Empty: none.
  NormWeights qNorm, kNorm;
  NormKind kind = NormKind::rms;
  double epsilon = 1e-6;
  bool whole = false;
  bool normsLast = false;                     ///< after the rotation
  std::optional<Rotation> rotation;           ///< in place of AttentionConfig::ropeTheta
  std::vector<std::vector<Index>> positions;  ///< of each sequence's tokens; empty: from cacheLength on
  std::optional<LatentLayer> latent;

  bool any() const { return qNorm.weight.size() > 0 || rotation || latent; }
};

/// Whether the file's layer has the maps of multi-head latent attention.
bool isLatent(const TensorReader& reader, const LayerPlace& place);
/// Reads them, and sets the sizes of `options` that their shapes give. Requires heads or head_dim.
Result<LatentLayer> readLatentLayer(TensorReader& reader, const LayerPlace& place, ParsedOptions& options);

/// Reads the tensors beside the layer's projections that change its scores (norms of queries and keys, sinks,
/// T5's biases), with the rotation, into problem.extras and problem.config. Errors are prefixed by `name`.
Status readExtras(TensorReader& reader, const LayerPlace& place, const ParsedOptions& options,
                  const std::string& name, AttentionProblem& problem);

/// Reads `position_ids`, whole numbers [n], [1, n] or [batch, n]. Requires x and the extras.
Status readPositions(TensorReader& reader, AttentionProblem& problem);

/// Returns q, k and v of a sequence as they are compared: normed and rotated.
AttentionResult projectSequence(const AttentionProblem& problem, std::size_t sequence);

}  // namespace headscope::attention

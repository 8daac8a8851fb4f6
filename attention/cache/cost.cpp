#include "attention/cache/cost.h"

#include "attention/core/saturating.h"

namespace headscope::attention {

std::uint64_t kvCacheBytes(Index kvHeads, Index headDim, Index tokens, Index bytesPerValue, Index sequences) {
  return saturatingProduct({2, kvHeads, headDim, tokens, bytesPerValue, sequences});
}

std::uint64_t parameterCount(const AttentionConfig& config, bool bias) {
  const Index d = config.modelDim, heads = config.heads, kvHeads = config.kvHeads, headDim = config.headDim;
  const std::uint64_t weights =
      saturatingSum({saturatingProduct({2, d, heads, headDim}), saturatingProduct({2, d, kvHeads, headDim})});
  if (!bias) return weights;
  return saturatingSum({weights, saturatingProduct({heads, headDim}),
                        saturatingProduct({2, kvHeads, headDim}), saturatingProduct({d})});
}

}  // namespace headscope::attention

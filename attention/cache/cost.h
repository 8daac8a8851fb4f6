#pragma once

#include <cstdint>

#include "attention/core/config.h"

namespace headscope::attention {

/// Returns the bytes of K and V for `tokens` tokens of each of `sequences` in one layer:
/// 2 · kvHeads · headDim · bytesPerValue · tokens · sequences (Pope et al. 2022, section 3.3).
/// Saturates instead of overflowing.
std::uint64_t kvCacheBytes(Index kvHeads, Index headDim, Index tokens, Index bytesPerValue,
                           Index sequences = 1);

/// Returns the parameters of the layer: Q d·H·s, K and V d·G·s each, O H·s·d, and with `bias` the biases.
std::uint64_t parameterCount(const AttentionConfig& config, bool bias);

}  // namespace headscope::attention

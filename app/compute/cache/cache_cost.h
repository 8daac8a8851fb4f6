#pragma once

#include <string>

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Returns the bytes of the keys and values of `tokens` tokens of every line if the layer had `kvHeads` kv
/// heads. Lines are padded to the same length, in the cache too.
double cacheBytes(const Snapshot& snapshot, Index kvHeads, Index tokens, Index bytesPerValue);
/// The same for latent attention with the sizes of app/compute/cache/cache_bytes.h.
double latentCacheBytes(const Snapshot& snapshot, Index tokens, Index bytesPerValue);
/// Returns "+2.5 KiB per token = 2 · 4 kv heads · 16 · 4 B · 5 lines". For cross-attention, where decoding
/// adds nothing, gives the bytes of all `tokens` tokens of the context.
std::string cacheFormula(const Snapshot& snapshot, Index tokens, Index bytesPerValue);

}  // namespace headscope::app

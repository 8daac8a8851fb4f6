#pragma once

#include <string>

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Bytes of the keys and values of `tokens` tokens of every line, had the layer `kvHeads` kv heads. Lines are
/// padded to one length, in the cache too.
double cacheBytes(const Snapshot& snapshot, Index kvHeads, Index tokens, Index bytesPerValue);
/// The same of latent attention as DeepSeek sizes it (app/compute/cache_bytes.h).
double latentCacheBytes(const Snapshot& snapshot, Index tokens, Index bytesPerValue);
/// "+2.5 KiB a token = 2 · 4 kv heads · 16 · 4 B · 5 lines"; in cross-attention, where decoding adds nothing,
/// the bytes of all `tokens` of the context.
std::string cacheFormula(const Snapshot& snapshot, Index tokens, Index bytesPerValue);

}  // namespace headscope::app

#pragma once

#include <string>

#include "app/labs/heads/heads_page.h"

namespace headscope::app {

/// How far the KV cache is filled.
struct CacheState {
  Index tokens = 0;    ///< all there will be
  Index now = 0;       ///< in the cache
  std::string reason;  ///< why it can't be decoded, or ""
};

/// Which kv heads have a strip when the strips have `height` pixels: all of them, or those around the
/// selected head's.
struct ShownHeads {
  Index first = 0, count = 1;
};
ShownHeads shownHeads(const Scene& scene, const Snapshot& snapshot, const View& view, float height);

/// K and V of every kv head that fits, one row of strips each, the cached columns lit.
void cacheStrips(Scene& scene, HeadsPage& page, const SequenceSnapshot& sequence, const CacheState& state,
                 const ImRect& area);

}  // namespace headscope::app

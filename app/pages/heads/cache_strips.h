#pragma once

#include <string>

#include "app/pages/common/cache_bands.h"
#include "app/pages/heads/heads_page.h"

namespace headscope::app::heads_page {

/// How far the KV cache is filled.
struct StripState {
  Index tokens = 0;    ///< the final number of tokens
  Index now = 0;       ///< tokens in the cache now
  std::string reason;  ///< why it can't be decoded, or ""
};

/// The layout of the bands in `area`, whose bottom line shows the keys' tokens. If not all bands fit, shows
/// those around the selected head's. While presenting, only stored bands have a slot.
BandPlan stripPlan(const Scene& scene, const Snapshot& snapshot, const View& view, const StripState& state,
                   const ImRect& area);
/// The visible kv heads, "KV 0–9 of 64 · "; "" if all are visible.
std::string stripShare(const BandPlan& plan);

/// Draws K and V of the visible kv heads, and what MHA would store in addition.
void cacheStrips(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                 const BandPlan& plan, const ImRect& area);

}  // namespace headscope::app::heads_page

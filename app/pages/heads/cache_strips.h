#pragma once

#include <string>

#include "app/pages/common/cache_bands.h"
#include "app/pages/heads/heads_page.h"

namespace headscope::app::heads_page {

/// How far the KV cache is filled.
struct StripState {
  Index tokens = 0;    ///< all there will be
  Index now = 0;       ///< in the cache
  std::string reason;  ///< why it can't be decoded, or ""
};

/// The bands as they lie in `area`, whose lowest line is for the keys' tokens; those around the selected
/// head's where not all are in sight. Presented, only what is stored has a slot.
BandPlan stripPlan(const Scene& scene, const Snapshot& snapshot, const View& view, const StripState& state,
                   const ImRect& area);
/// Which kv heads are in sight: "KV 0–9 of 64 · ", or nothing where all are.
std::string stripShare(const BandPlan& plan);

/// K and V of the kv heads that are in sight, and what MHA would store besides.
void cacheStrips(Scene& scene, State& page, const SequenceSnapshot& sequence, const StripState& state,
                 const BandPlan& plan, const ImRect& area);

}  // namespace headscope::app::heads_page

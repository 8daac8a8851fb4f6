#pragma once

#include "app/compute/snapshot.h"

namespace headscope::app {

/// The cached keys and values as strips: [2 · kvHeads, bands, m], layer 2g for K and 2g+1 for V of kv head g.
/// A value is |v| over the largest |v| of all K (or all V), so 0 to 1; where a head has more dimensions than
/// bands, the largest of those that share a band.
attention::Stack cachePicture(const attention::AttentionResult& result);

}  // namespace headscope::app

#pragma once

#include "attention/core/tensor.h"
#include "attention/masks/structure.h"

namespace headscope::attention {

/// What a mask is laid over.
struct MaskGeometry {
  Index queries = 0, keys = 0;
  Index cacheLength = 0;  ///< the first query's absolute position
  Index heads = 1, kvHeads = 1;
  Index sequence = 0;   ///< which line of the batch
  Index keyLength = 0;  ///< keys that are not padding
  bool cross = false;   ///< two texts, each counted from 0; masks go by the positions all the same
  TextStructure structure;
  /// The key and value head that a head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
};

}  // namespace headscope::attention

#pragma once

#include "attention/core/tensor.h"
#include "attention/masks/structure.h"

namespace headscope::attention {

/// The sizes and the text that a mask is applied to.
struct MaskGeometry {
  Index queries = 0, keys = 0;
  Index cacheLength = 0;  ///< the first query's absolute position
  Index heads = 1, kvHeads = 1;
  Index sequence = 0;   ///< line of the batch
  Index keyLength = 0;  ///< keys that are not padding
  bool cross = false;   ///< two texts, each with positions from 0; masks still compare these positions
  TextStructure structure;
  /// Returns the kv head that a head reads.
  Index kvHeadOf(Index head) const { return head * kvHeads / heads; }
};

}  // namespace headscope::attention

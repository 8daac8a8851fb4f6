#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// How one fused tensor stores queries, keys and values.
enum class FusedRows {
  thirds,  ///< all of q, then all of k, then all of v (GPT-2, Phi-3, torch.nn.MultiheadAttention)
  /// [kvHeads, heads/kvHeads + 2, headDim]: for one kv head after another, the queries of the heads that read
  /// it, then its k and v (GPT-NeoX, Falcon).
  heads,
};
enum class FusedPart { q, k, v };

/// Outputs first … first+count−1 of a map.
struct RowRange {
  Index first = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

/// Returns the outputs of a fused map that belong to `part`, in head order, as ranges of equal size.
std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim);

}  // namespace headscope::attention

#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// How one fused tensor stores queries, keys and values.
enum class FusedRows {
  thirds,  ///< all of q, then all of k, then all of v (GPT-2, Phi-3, torch.nn.MultiheadAttention)
  heads,   ///< [heads, 3, headDim]: q, k and v of one head after another (GPT-NeoX)
};
enum class FusedPart { q, k, v };

/// Outputs first … first+count−1 of a map.
struct RowRange {
  Index first = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

/// Returns the outputs of a fused map that belong to `part`, in head order, as ranges of equal size. Throws
/// std::invalid_argument if `fused` is FusedRows::heads and kvHeads differs from heads.
std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim);

}  // namespace headscope::attention

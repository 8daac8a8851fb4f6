#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// How one tensor holds queries, keys and values.
enum class FusedRows {
  thirds,  ///< all of q, then all of k, then all of v (GPT-2, Phi-3, torch.nn.MultiheadAttention)
  heads,   ///< [heads, 3, headDim]: a head's q, k and v behind each other (GPT-NeoX)
};
enum class FusedPart { q, k, v };

/// Outputs first … first+count−1 of a map.
struct RowRange {
  Index first = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

/// Which outputs of a fused map are `part`'s, in the order of its heads; ranges of equal size. With
/// FusedRows::heads there are as many kv heads as heads, else it throws std::invalid_argument.
std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim);

}  // namespace headscope::attention

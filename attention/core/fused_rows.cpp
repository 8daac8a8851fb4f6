#include "attention/core/fused_rows.h"

#include "attention/core/result.h"

namespace headscope::attention {

std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim) {
  const Index queries = heads * headDim, keys = kvHeads * headDim;
  if (fused == FusedRows::thirds) {
    if (part == FusedPart::q) return {{0, queries}};
    return {{part == FusedPart::k ? queries : queries + keys, keys}};
  }
  require(heads == kvHeads, "rows of a head's q, k and v one after another, with keys that heads share");
  std::vector<RowRange> rows;
  for (Index head = 0; head < heads; ++head)
    rows.push_back({(3 * head + static_cast<Index>(part)) * headDim, headDim});
  return rows;
}

}  // namespace headscope::attention

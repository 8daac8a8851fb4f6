#include "attention/core/fused_rows.h"

namespace headscope::attention {

std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim) {
  const Index queries = heads * headDim, keys = kvHeads * headDim;
  if (fused == FusedRows::thirds) {
    if (part == FusedPart::q) return {{0, queries}};
    return {{part == FusedPart::k ? queries : queries + keys, keys}};
  }
  const Index share = heads / kvHeads, before = part == FusedPart::q ? 0 : share + (part == FusedPart::v);
  std::vector<RowRange> rows;
  for (Index group = 0; group < kvHeads; ++group)
    rows.push_back({(group * (share + 2) + before) * headDim, (part == FusedPart::q ? share : 1) * headDim});
  return rows;
}

}  // namespace headscope::attention

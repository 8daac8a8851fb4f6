#pragma once

#include <vector>

#include "attention/core/mask.h"
#include "attention/kernels/score_rules.h"

namespace headscope::attention {

/// What some rows that follow each other see, as the kernels take it.
struct RowRuns {
  std::vector<kernels::Run> runs;
  std::vector<std::size_t> first;  ///< [rows + 1]
};

/// Rows row, row + step … (`rows` of them) of a mask over `keys` keys, everything considered: the config's
/// rules, the key length, the formula, and where a dense mask masks or an additive one is −inf.
void collectRuns(const AttentionConfig& config, const MaskInput& mask, Index head, Index row, Index rows,
                 Index keys, RowRuns& out, Index step = 1);

/// Cuts out of each of `runs` the keys where an additive mask is −inf: row r's numbers begin at
/// added + r·stride.
void cutHidden(const float* added, Index stride, RowRuns& runs);

/// Heads that see the same have the same number.
std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask);

}  // namespace headscope::attention

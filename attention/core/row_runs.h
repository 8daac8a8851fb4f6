#pragma once

#include <vector>

#include "attention/core/mask.h"
#include "attention/core/score_terms.h"
#include "attention/kernels/score_rules.h"

namespace headscope::attention {

/// What some rows that follow each other see, as the kernels take it.
struct RowRuns {
  std::vector<kernels::Run> runs;
  std::vector<std::size_t> first;  ///< [rows + 1]
  KeyRuns row;                     ///< of the row that was looked at last
};

/// Rows row, row + step … (`rows` of them) of a mask over `keys` keys: what its formula lets them see,
/// without the keys where its additive matrix is −inf.
void collectRuns(const MaskInput& mask, Index head, Index row, Index rows, Index keys, RowRuns& out,
                 Index step = 1);

/// The kernels' rules for the rows that `runs` are of, the first of them `row`, each `step` after the one
/// before. They point into `terms` and `runs`.
kernels::ScoreRules rulesOf(const HeadTerms& terms, Index row, const RowRuns& runs, Index step = 1);

/// Heads that see the same have the same number.
std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask);

}  // namespace headscope::attention

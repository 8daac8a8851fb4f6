#pragma once

#include <vector>

#include "attention/core/mask.h"
#include "attention/core/score_terms.h"
#include "attention/kernels/score_rules.h"

namespace headscope::attention {

/// The visible keys of several rows, in the kernels' format.
struct RowRuns {
  std::vector<kernels::Run> runs;
  std::vector<std::size_t> first;  ///< [rows + 1]
  KeyRuns row;                     ///< scratch: the formula's runs of the last row
};

/// Collects the visible keys of rows row, row + step … (`rows` of them) of a mask over `keys` keys: those
/// visible by the formula, minus those where the additive matrix is −inf.
void collectRuns(const MaskInput& mask, Index head, Index row, Index rows, Index keys, RowRuns& out,
                 Index step = 1);

/// Returns the kernels' rules for the rows of `runs`: row, row + step … They point into `terms` and `runs`.
kernels::ScoreRules rulesOf(const HeadTerms& terms, Index row, const RowRuns& runs, Index step = 1);

/// Returns a number for each head; heads with the same number see the same keys.
std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask);

}  // namespace headscope::attention

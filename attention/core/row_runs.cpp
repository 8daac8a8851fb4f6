#include "attention/core/row_runs.h"

#include <limits>

namespace headscope::attention {
namespace {

void append(Index begin, Index end, std::vector<kernels::Run>& out) {
  if (begin < end) out.push_back({static_cast<std::size_t>(begin), static_cast<std::size_t>(end)});
}

/// Appends `run` without the keys where the additive row is −inf.
void appendCut(const KeyRun& run, const float* added, std::vector<kernels::Run>& out) {
  Index begin = run.begin;
  for (Index j = run.begin; j < run.end; ++j) {
    if (added[j] != -std::numeric_limits<float>::infinity()) continue;
    append(begin, j, out);
    begin = j + 1;
  }
  append(begin, run.end, out);
}

}  // namespace

void collectRuns(const MaskInput& mask, Index head, Index row, Index rows, Index keys, RowRuns& out,
                 Index step) {
  out.runs.clear();
  out.first.assign(1, 0);
  const Index variant = mask.formula ? mask.formula->variantOf(head) : 0;
  KeyRuns& seen = out.row;
  seen.assign(1, {0, keys});
  for (Index r = row; r < row + rows * step; r += step) {
    if (mask.formula) mask.formula->visibleRuns(variant, r, seen);
    const float* const added =
        mask.additive.empty() ? nullptr : mask.additive[sliceOf(mask.additive, head)].row(r).data();
    for (const KeyRun& run : seen)
      if (added)
        appendCut(run, added, out.runs);
      else
        append(run.begin, run.end, out.runs);
    out.first.push_back(out.runs.size());
  }
}

kernels::ScoreRules rulesOf(const HeadTerms& terms, Index row, const RowRuns& runs, Index step) {
  kernels::ScoreRules rules;
  rules.scale = terms.factor;
  rules.softcap = terms.cap;
  rules.bias = terms.biasOf(row);
  rules.rowStep = static_cast<std::size_t>(step);
  rules.added = terms.addedOf(row);
  rules.addedRow = static_cast<std::size_t>(terms.keys * step);
  rules.runs = runs.runs.data();
  rules.firstRun = runs.first.data();
  return rules;
}

std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask) {
  std::vector<Index> classes;
  for (Index head = 0; head < config.heads; ++head)
    classes.push_back(mask.additive.count() > 1 ? head : mask.formula ? mask.formula->variantOf(head) : 0);
  return classes;
}

}  // namespace headscope::attention

#include "attention/core/row_runs.h"

#include <algorithm>
#include <limits>

namespace headscope::attention {
namespace {

/// Keeps of `runs` what lies inside [begin, end).
void append(const KeyRuns& runs, Index begin, Index end, KeyRuns& out) {
  if (begin >= end) return;
  auto run = std::partition_point(runs.begin(), runs.end(), [&](const KeyRun& r) { return r.end <= begin; });
  for (; run != runs.end() && run->begin < end; ++run)
    out.push_back({std::max(run->begin, begin), std::min(run->end, end)});
}

/// Cuts out of `runs` the keys that a dense row masks.
template <typename Masks>
void cut(const Masks& masks, KeyRuns& runs) {
  KeyRuns kept;
  for (const KeyRun& run : runs) {
    Index begin = run.begin;
    for (Index j = run.begin; j <= run.end; ++j) {
      if (j < run.end && !masks(j)) continue;
      if (begin < j) kept.push_back({begin, j});
      begin = j + 1;
    }
  }
  runs = std::move(kept);
}

const float* denseRow(const Stack& stack, Index head, Index row) {
  return stack.empty() ? nullptr : stack[stack.count() == 1 ? 0 : head].row(row).data();
}

}  // namespace

void collectRuns(const AttentionConfig& config, const MaskInput& mask, Index head, Index row, Index rows,
                 Index keys, RowRuns& out, Index step) {
  out.runs.clear();
  out.first.assign(1, 0);
  KeyRuns whole{{0, keys}}, formula, seen;
  for (Index r = row; r < row + rows * step; r += step) {
    if (mask.formula) mask.formula->visibleRuns(mask.formula->variantOf(head), r, formula);
    const KeyRuns& from = mask.formula ? formula : whole;
    const VisibleKeys rule = visibleKeys(config, mask.keyLength, config.cacheLength + r, keys);
    seen.clear();
    append(from, 0, rule.sinkEnd, seen);
    append(from, rule.begin, rule.end, seen);
    if (const float* masked = denseRow(mask.masked, head, r))
      cut([&](Index j) { return masked[j] != 0; }, seen);
    if (const float* added = denseRow(mask.additive, head, r))
      cut([&](Index j) { return added[j] == -std::numeric_limits<float>::infinity(); }, seen);
    for (const KeyRun& run : seen)
      out.runs.push_back({static_cast<std::size_t>(run.begin), static_cast<std::size_t>(run.end)});
    out.first.push_back(out.runs.size());
  }
}

std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask) {
  const bool dense = mask.masked.count() > 1 || mask.additive.count() > 1;
  std::vector<Index> classes;
  for (Index head = 0; head < config.heads; ++head)
    classes.push_back(dense ? head : mask.formula ? mask.formula->variantOf(head) : 0);
  return classes;
}

}  // namespace headscope::attention

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
template <typename Run, typename Masks>
void cut(const Masks& masks, std::vector<Run>& runs) {
  std::vector<Run> kept;
  for (const Run& run : runs) {
    auto begin = run.begin;
    for (auto j = run.begin; j <= run.end; ++j) {
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

void cutHidden(const float* added, Index stride, RowRuns& runs) {
  RowRuns kept;
  kept.first.push_back(0);
  std::vector<kernels::Run> seen;
  for (std::size_t row = 0; row + 1 < runs.first.size(); ++row, added += stride) {
    const auto begin = runs.runs.begin();
    seen.assign(begin + static_cast<std::ptrdiff_t>(runs.first[row]),
                begin + static_cast<std::ptrdiff_t>(runs.first[row + 1]));
    cut([&](std::size_t j) { return added[j] == -std::numeric_limits<float>::infinity(); }, seen);
    kept.runs.insert(kept.runs.end(), seen.begin(), seen.end());
    kept.first.push_back(kept.runs.size());
  }
  runs = std::move(kept);
}

std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask) {
  const bool dense = mask.masked.count() > 1 || mask.additive.count() > 1;
  std::vector<Index> classes;
  for (Index head = 0; head < config.heads; ++head)
    classes.push_back(dense ? head : mask.formula ? mask.formula->variantOf(head) : 0);
  return classes;
}

}  // namespace headscope::attention

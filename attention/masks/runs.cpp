#include "attention/masks/runs.h"

namespace headscope::attention {

void appendRun(KeyRuns& runs, Index begin, Index end) {
  if (begin >= end) return;
  if (!runs.empty() && begin <= runs.back().end) {
    runs.back().end = std::max(runs.back().end, end);
  } else {
    runs.push_back({begin, end});
  }
}

void sortRuns(KeyRuns& runs) {
  std::sort(runs.begin(), runs.end(), [](const KeyRun& a, const KeyRun& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const KeyRun run : runs) {
    if (run.begin >= run.end) continue;
    if (kept > 0 && run.begin <= runs[kept - 1].end) {
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    } else {
      runs[kept++] = run;
    }
  }
  runs.resize(kept);
}

void unite(const KeyRuns& a, const KeyRuns& b, KeyRuns& out) {
  out.clear();
  auto left = a.begin(), right = b.begin();
  while (left != a.end() || right != b.end()) {
    const bool takeLeft = right == b.end() || (left != a.end() && left->begin <= right->begin);
    const KeyRun& run = takeLeft ? *left++ : *right++;
    appendRun(out, run.begin, run.end);
  }
}

void intersect(const KeyRuns& a, const KeyRuns& b, KeyRuns& out) {
  out.clear();
  auto left = a.begin(), right = b.begin();
  while (left != a.end() && right != b.end()) {
    // If one run meets two neighbouring runs of the other side, these have a gap between them, so results
    // never touch.
    const Index begin = std::max(left->begin, right->begin), end = std::min(left->end, right->end);
    if (begin < end) out.push_back({begin, end});
    if (left->end < right->end) {
      ++left;
    } else {
      ++right;
    }
  }
}

void subtract(const KeyRuns& a, const KeyRuns& b, KeyRuns& out) {
  out.clear();
  auto hole = b.begin();
  for (const KeyRun& run : a) {
    Index from = run.begin;
    while (hole != b.end() && hole->end <= from) ++hole;
    while (hole != b.end() && hole->begin < run.end) {
      if (from < hole->begin) out.push_back({from, hole->begin});
      from = hole->end;
      // A hole that extends beyond this run may also cut the next.
      if (hole->end >= run.end) break;
      ++hole;
    }
    if (from < run.end) out.push_back({from, run.end});
  }
}

void complement(const KeyRuns& a, Index keys, KeyRuns& out) {
  out.clear();
  Index from = 0;
  for (const KeyRun& run : a) {
    if (run.begin >= keys) break;
    if (from < run.begin) out.push_back({from, run.begin});
    from = run.end;
  }
  if (from < keys) out.push_back({from, keys});
}

}  // namespace headscope::attention

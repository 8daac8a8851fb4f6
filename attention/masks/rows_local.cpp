#include <algorithm>

#include "attention/masks/rows.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// Those of keys begin … end−1 that lie a multiple of `step` from key `through`; nothing is in `out` yet.
void appendEvery(KeyRuns& out, Index begin, Index end, Index through, Index step) {
  if (step == 1) return appendRun(out, begin, end);
  const Index offset = (begin - through) % step;
  Index key = begin - offset + (offset > 0 ? step : 0);
  for (; key < end; key += step) out.push_back({key, key + 1});
}

void fixedRow(Index block, Index summary, const RowPlace& place, KeyRuns& out) {
  const Index end = std::min(place.position + 1, place.keys);
  const Index own = place.position / block * block;
  if (summary >= block) return appendRun(out, 0, end);
  for (Index last = block; last <= own && last - summary < end; last += block)
    appendRun(out, last - summary, std::min(last, end));
  appendRun(out, own, end);
}

void blockDiffusionRow(Index block, Index half, const RowPlace& place, KeyRuns& out) {
  const Index i = place.position;
  if (i < half) {
    const Index own = i / block * block;
    appendRun(out, own, std::min({own + block, half, place.keys}));
    appendRun(out, half, std::min(half + own, place.keys));
  } else {
    const Index own = (i - half) / block * block;
    appendRun(out, half, std::min(half + own + block, place.keys));
  }
}

/// The patterns whose row is one run; begin ≥ end for none.
KeyRun runOf(const Rule& rule, const RowPlace& place) {
  const Index i = place.position, n = rule.counts[0];
  switch (rule.kind) {
    case PatternKind::full:
      return {0, place.keys};
    case PatternKind::causal:
      return {0, i + 1};
    case PatternKind::causalTopLeft:
      return {0, i - place.cacheLength + 1};
    case PatternKind::padding:
    case PatternKind::sinks:
      return {0, n};
    case PatternKind::window:
      return {i - n + 1, i + 1};
    case PatternKind::windowBack:
      return {i - n, i + 1};
    case PatternKind::windowBoth:
      return {i - n + 1, i + n};
    case PatternKind::chunked:
      return {i / n * n, i + 1};
    case PatternKind::blockDiagonal:
      return {i / n * n, i / n * n + n};
    case PatternKind::blockCausal:
      return {0, i / n * n + n};
    default:
      require(false, "not a pattern of one run");
      return {};
  }
}

}  // namespace

void localRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  const Index i = place.position, m = place.keys;
  const Index first = rule.counts[0], second = rule.counts[1];
  const Index causalEnd = std::min(i + 1, m);
  switch (rule.kind) {
    case PatternKind::dilated:
      return appendEvery(out, std::max<Index>(0, i - first), std::min(i + first + 1, m), i, second);
    case PatternKind::streaming:
      appendRun(out, 0, std::min(first, causalEnd));
      return appendRun(out, std::max<Index>(0, i - second + 1), causalEnd);
    case PatternKind::strided:
      appendEvery(out, 0, std::min(i - first + 1, m), i, first);
      return appendRun(out, std::max<Index>(0, i - first + 1), causalEnd);
    case PatternKind::fixed:
      return fixedRow(first, second, place, out);
    case PatternKind::blockDiffusion:
      return blockDiffusionRow(first, second, place, out);
    default: {
      const KeyRun run = runOf(rule, place);
      return appendRun(out, std::max<Index>(0, run.begin), std::min(run.end, m));
    }
  }
}

}  // namespace headscope::attention

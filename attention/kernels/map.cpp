#include "attention/kernels/map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/map.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which sets the target that this is compiled for.
#include "attention/kernels/score-inl.h"

#ifndef HEADSCOPE_KERNELS_MAP_SHARED_
#define HEADSCOPE_KERNELS_MAP_SHARED_
namespace headscope::attention::kernels {

/// Keys whose scores are taken at once: those of a block of rows fit the first caches. A multiple of every
/// target's panel.
inline constexpr std::size_t kMapChunk = 256;

struct MapScratch {
  Buffer q, scores, pooled;
  std::vector<std::uint8_t> active;
  std::vector<const Run*> next;
};

}  // namespace headscope::attention::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// The rows' queries and memory for `chunk` keys.
ScoreBlock blockFor(const MapRows& part, size_t chunk, MapScratch& scratch) {
  const size_t panel = panelColumns(), padded = roundedUp(part.rows, kRows);
  ScoreBlock block{.rows = part.rows, .headDim = part.keys.headDim, .rules = &part.rules};
  // Rows that lie a whole number of pages apart would share a few lines of the caches.
  block.stride = chunk + panel;
  block.scores = scratch.scores.atLeast(padded * block.stride);
  scratch.active.resize(padded / kRows * (chunk / panel + 1));
  block.active = scratch.active.data();
  scratch.next.resize(part.rows);
  block.next = scratch.next.data();
  block.runsPassed = part.runsPassed;
  float* const q = scratch.q.atLeast(padded * block.headDim);
  packQueries(part.q, part.qRow, part.rows, block.headDim, part.rules.scale, q);
  block.q = q;
  return block;
}

/// One row and one block of keys.
HWY_INLINE void summarize(const float* scores, size_t count, float* max, float* sum) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes top = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < count; j += n) top = hn::Max(hn::LoadU(d, scores + j), top);
  const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
  // A block without a visible key: everything is exp(−inf).
  const Lanes reference = hn::Set(d, largest == kMinusInfinity ? 0.0f : largest);
  Lanes total = hn::Zero(d);
  for (size_t j = 0; j < count; j += n)
    total = hn::Add(total, expNonPositive(hn::Sub(hn::LoadU(d, scores + j), reference)));
  *max = largest;
  *sum = hn::GetLane(hn::SumOfLanes(d, total));
}

/// Rows that are summed up beside each other: what one waits for, the others fill.
inline constexpr size_t kTogether = 4;

#if HWY_TARGET != HWY_SCALAR
/// From the lanes of four vectors to four numbers, by `combine`.
template <typename Combine>
HWY_INLINE void reduceTogether(const Lanes (&v)[kTogether], float* out, Combine combine) {
  const Lane d;
  const hn::RepartitionToWide<Lane> wide;
  const Lanes ab = combine(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1]));
  const Lanes ce = combine(hn::InterleaveLower(d, v[2], v[3]), hn::InterleaveUpper(d, v[2], v[3]));
  const auto abWide = hn::BitCast(wide, ab), ceWide = hn::BitCast(wide, ce);
  // In each block of four lanes now one for each vector.
  const Lanes all = combine(hn::BitCast(d, hn::InterleaveLower(wide, abWide, ceWide)),
                            hn::BitCast(d, hn::InterleaveUpper(wide, abWide, ceWide)));
  HWY_ALIGN float lanes[hn::MaxLanes(d)];
  hn::Store(all, d, lanes);
  const hn::FixedTag<float, kTogether> four;
  auto result = hn::Load(four, lanes);
  for (size_t i = kTogether; i < hn::Lanes(d); i += kTogether)
    result = combine(result, hn::Load(four, lanes + i));
  hn::StoreU(result, four, out);
}

/// summarize() of four rows `stride` apart.
HWY_INLINE void summarizeTogether(const float* scores, size_t stride, size_t count, float* max, float* sum,
                                  size_t outStride) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes top[kTogether], total[kTogether], reference[kTogether];
  for (size_t r = 0; r < kTogether; ++r) top[r] = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < count; j += n)
    for (size_t r = 0; r < kTogether; ++r) top[r] = hn::Max(hn::LoadU(d, scores + r * stride + j), top[r]);
  float largest[kTogether], sums[kTogether];
  reduceTogether(top, largest, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
  for (size_t r = 0; r < kTogether; ++r) {
    reference[r] = hn::Set(d, largest[r] == kMinusInfinity ? 0.0f : largest[r]);
    total[r] = hn::Zero(d);
  }
  for (size_t j = 0; j < count; j += n)
    for (size_t r = 0; r < kTogether; ++r)
      total[r] =
          hn::Add(total[r], expNonPositive(hn::Sub(hn::LoadU(d, scores + r * stride + j), reference[r])));
  reduceTogether(total, sums, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
  for (size_t r = 0; r < kTogether; ++r) {
    max[r * outStride] = largest[r];
    sum[r * outStride] = sums[r];
  }
}
#endif

/// Keys begin … begin+count−1 of a chunk in one row, of which some panels may hold nothing.
HWY_INLINE void summarizeBlock(const ScoreBlock& scores, size_t r, size_t begin, size_t count, float* max,
                               float* sum) {
  const size_t panel = panelColumns();
  const std::uint8_t* const active = scores.activeOf(r / kRows);
  // Panels that were left out hold nothing: the block begins and ends with active ones.
  size_t first = begin / panel, end = (begin + count) / panel;
  while (first < end && !active[first]) ++first;
  while (end > first && !active[end - 1]) --end;
  // Half of the blocks of a causal head.
  if (first == end) {
    *max = kMinusInfinity;
    *sum = 0;
    return;
  }
  for (size_t p = first; p < end; ++p)
    if (!active[p]) std::fill_n(scores.row(r) + p * panel, panel, kMinusInfinity);
  summarize(scores.row(r) + first * panel, (end - first) * panel, max, sum);
}

/// The same for all rows; results of one row lie `stride` from those of the next.
HWY_INLINE void summarizeBlocks(const ScoreBlock& scores, size_t begin, size_t count, float* max, float* sum,
                                size_t stride) {
  size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const size_t panel = panelColumns();
  const auto complete = [&](size_t row) {
    const std::uint8_t* const active = scores.activeOf(row / kRows);
    return std::find(active + begin / panel, active + (begin + count) / panel, 0) ==
           active + (begin + count) / panel;
  };
  for (; r + kTogether <= scores.rows; r += kTogether)
    if (complete(r) && complete(r + kTogether - 1))
      summarizeTogether(scores.row(r) + begin, scores.stride, count, max + r * stride, sum + r * stride,
                        stride);
    else
      for (size_t i = r; i < r + kTogether; ++i)
        summarizeBlock(scores, i, begin, count, max + i * stride, sum + i * stride);
#endif
  for (; r < scores.rows; ++r) summarizeBlock(scores, r, begin, count, max + r * stride, sum + r * stride);
}

void summarizeRows(const MapRows& part, float* max, float* sum, MapScratch& scratch) {
  const size_t panel = panelColumns(), blocks = mapBlocks(part);
  const size_t chunk = std::max(kMapChunk, part.factor);
  ScoreBlock scores = blockFor(part, chunk, scratch);
  scores.keyBegin = part.keyBegin;
  findRuns(scores);
  for (size_t key = part.keyBegin; key < part.keyEnd; key += chunk) {
    if (part.stop && part.stop->stop_requested()) return;
    scores.keyBegin = key;
    scores.keyEnd = std::min(key + chunk, part.keyEnd);
    computeScores(scores, part.keys.data);
    const size_t first = (key - part.keyBegin) / part.factor;
    for (size_t j = 0, at = first; key + j < scores.keyEnd; j += part.factor, ++at)
      summarizeBlocks(scores, j, std::min(part.factor, roundedUp(scores.keyEnd - key - j, panel)), max + at,
                      sum + at, blocks);
  }
}

/// The first `count` lanes of v to p.
HWY_INLINE void storePart(Lanes v, size_t count, float* p) {
  const Lane d;
  HWY_ALIGN float part[hn::MaxLanes(d)];
  hn::Store(v, d, part);
  std::copy_n(part, count, p);
}

float combineBlocks(const float* max, const float* sum, size_t blocks) {
  const Lane d;
  const size_t n = hn::Lanes(d), whole = blocks / n * n;
  Lanes tops = hn::Set(d, kMinusInfinity), sums = hn::Zero(d);
  for (size_t j = 0; j < whole; j += n) tops = hn::Max(hn::LoadU(d, max + j), tops);
  float top = hn::GetLane(hn::MaxOfLanes(d, tops));
  for (size_t j = whole; j < blocks; ++j) top = std::max(top, max[j]);
  // A row without a visible key: everything is exp(−inf).
  const Lanes reference = hn::Set(d, top == kMinusInfinity ? 0.0f : top);
  for (size_t j = 0; j < blocks; j += n) {
    const bool full = j < whole;
    // Beyond the last block the sums are 0.
    const Lanes most = full ? hn::LoadU(d, max + j) : loadPart(max + j, blocks - j);
    const Lanes some = full ? hn::LoadU(d, sum + j) : loadPart(sum + j, blocks - j);
    sums = hn::Add(sums, hn::Mul(some, expNonPositive(atMostZero(hn::Sub(most, reference)))));
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, sums));
  return total == 0 ? kMinusInfinity : top + std::log(total);
}

void foldBlocks(const float* max, const float* sum, size_t blocks, float lse, float* largest, float* total) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes shift = hn::Set(d, lse), none = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < blocks; j += n) {
    const size_t count = std::min(n, blocks - j);
    const auto load = [&](const float* p)
                          HWY_ATTR { return count == n ? hn::LoadU(d, p) : loadPart(p, count); };
    const Lanes most = load(max + j), some = load(sum + j), before = load(largest + j),
                mass = load(total + j);
    // Rounding must not lift a weight above 1. A sum that is NaN is the weights' as well.
    const Lanes exact = expNonPositive(atMostZero(hn::Sub(most, shift)));
    const auto broken = hn::IsNaN(some);
    const Lanes weight = hn::IfThenElse(broken, some, exact);
    const auto hidden = hn::AndNot(broken, hn::Eq(most, none));
    // The larger one, and NaN if either is.
    const Lanes larger = hn::IfThenElse(hn::Or(hn::IsNaN(before), hn::Lt(weight, before)), before, weight);
    const Lanes added = hn::MulAdd(some, weight, hn::IfThenZeroElse(hn::Eq(mass, none), mass));
    const Lanes newLargest = hn::IfThenElse(hidden, before, larger);
    const Lanes newTotal = hn::IfThenElse(hidden, mass, added);
    if (count == n) {
      hn::StoreU(newLargest, d, largest + j);
      hn::StoreU(newTotal, d, total + j);
    } else {
      storePart(newLargest, count, largest + j);
      storePart(newTotal, count, total + j);
    }
  }
}

/// A masked cell while weights are pooled: less than every weight.
inline constexpr float kUnseen = -1;

/// `scores` of one row as weights, the largest of and the sum with what earlier rows of the group left.
HWY_INLINE void foldRow(const float* scores, bool seen, size_t count, float lse, bool first, float* max,
                        float* sum) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes shift = hn::Set(d, lse), unseen = hn::Set(d, kUnseen), hidden = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < count; j += n) {
    const Lanes score = seen ? hn::LoadU(d, scores + j) : hidden;
    const Lanes weight = expNonPositive(atMostZero(hn::Sub(score, shift)));
    const auto masked = hn::Eq(score, hidden);
    const Lanes marked = hn::IfThenElse(masked, unseen, weight);
    const Lanes mass = hn::IfThenZeroElse(masked, weight);
    hn::StoreU(first ? marked : hn::Max(hn::LoadU(d, max + j), marked), d, max + j);
    hn::StoreU(first ? mass : hn::Add(hn::LoadU(d, sum + j), mass), d, sum + j);
  }
}

/// `factor` columns of a group to one pixel.
HWY_INLINE void poolColumns(const float* max, const float* sum, size_t offset, size_t count, size_t factor,
                            float* pooledMax, float* pooledSum) {
  for (size_t j = offset; j < offset + count; j += factor) {
    float largest = kUnseen, total = 0;
    for (size_t c = j; c < std::min(j + factor, offset + count); ++c) {
      largest = std::max(largest, max[c]);
      total += sum[c];
    }
    // A maximum loses sight of NaN, a sum does not.
    if (std::isnan(total)) largest = total;
    const bool visible = largest != kUnseen;
    if (pooledMax) *pooledMax++ = visible ? largest : kMinusInfinity;
    if (pooledSum) *pooledSum++ = visible ? total : kMinusInfinity;
  }
}

/// Weights of one row cell by cell, −inf where masked.
HWY_INLINE void storeWeights(const float* scores, bool seen, size_t count, float lse, float* to) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes shift = hn::Set(d, lse), hidden = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < count; j += n) {
    const Lanes score = seen ? hn::LoadU(d, scores + j) : hidden;
    const Lanes weight = expNonPositive(atMostZero(hn::Sub(score, shift)));
    const Lanes marked = hn::IfThenElse(hn::Eq(score, hidden), hidden, weight);
    if (j + n <= count)
      hn::StoreU(marked, d, to + j);
    else
      storePart(marked, count - j, to + j);
  }
}

/// The cells of a chunk as they are: each is a pixel, its largest weight and its sum.
HWY_INLINE void storeCells(const MapRows& part, const ScoreBlock& scores, const float* lse, float* to) {
  const size_t panel = panelColumns(), blocks = mapBlocks(part);
  for (size_t r = 0; r < part.rows; ++r)
    for (size_t p = 0; p < scores.panels(); ++p) {
      const size_t key = scores.keyBegin + p * panel, from = std::max(key, part.keyBegin);
      const size_t end = std::min(key + panel, scores.keyEnd);
      if (from < end)
        storeWeights(scores.row(r) + p * panel + (from - key), scores.activeOf(r / kRows)[p] != 0, end - from,
                     lse[r], to + r * blocks + (from - part.keyBegin));
    }
}

void poolRows(const MapRows& part, const float* lse, float* max, float* sum, MapScratch& scratch) {
  const size_t panel = panelColumns(), blocks = mapBlocks(part), factor = part.factor;
  ScoreBlock scores = blockFor(part, kMapChunk, scratch);
  float* const largest = scratch.pooled.atLeast(2 * scores.stride);
  float* const total = largest + scores.stride;
  scores.keyBegin = part.keyBegin / panel * panel;
  findRuns(scores);
  for (size_t key = part.keyBegin / panel * panel; key < part.keyEnd; key += kMapChunk) {
    if (part.stop && part.stop->stop_requested()) return;
    scores.keyBegin = key;
    scores.keyEnd = std::min(key + kMapChunk, part.keyEnd);
    computeScores(scores, part.keys.data);
    if (factor == 1) {
      for (float* const to : {max, sum})
        if (to) storeCells(part, scores, lse, to);
      continue;
    }
    const size_t from = std::max(key, part.keyBegin), first = (from - part.keyBegin) / factor;
    for (size_t r = 0; r < part.rows; ++r) {
      for (size_t p = 0; p < scores.panels(); ++p)
        foldRow(scores.row(r) + p * panel, scores.activeOf(r / kRows)[p] != 0, panel, lse[r], r % factor == 0,
                largest + p * panel, total + p * panel);
      if ((r + 1) % factor != 0 && r + 1 != part.rows) continue;
      const size_t at = r / factor * blocks + first;
      poolColumns(largest, total, from - key, scores.keyEnd - from, factor, max ? max + at : nullptr,
                  sum ? sum + at : nullptr);
    }
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(summarizeRows);
HWY_EXPORT(poolRows);
HWY_EXPORT(combineBlocks);
HWY_EXPORT(foldBlocks);

MapScratch& scratch() {
  static thread_local MapScratch scratch;
  return scratch;
}

}  // namespace

std::size_t mapBlocks(const MapRows& part) {
  return (part.keyEnd - part.keyBegin + part.factor - 1) / part.factor;
}

void summarizeScores(const MapRows& part, float* max, float* sum) {
  HWY_DYNAMIC_DISPATCH(summarizeRows)(part, max, sum, scratch());
}

float combineSummaries(const float* max, const float* sum, std::size_t blocks) {
  return HWY_DYNAMIC_DISPATCH(combineBlocks)(max, sum, blocks);
}

void foldSummaries(const float* max, const float* sum, std::size_t blocks, float lse, float* largest,
                   float* total) {
  HWY_DYNAMIC_DISPATCH(foldBlocks)(max, sum, blocks, lse, largest, total);
}

void poolWeights(const MapRows& part, const float* lse, float* max, float* sum) {
  HWY_DYNAMIC_DISPATCH(poolRows)(part, lse, max, sum, scratch());
}

}  // namespace headscope::attention::kernels
#endif

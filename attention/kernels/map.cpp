#include "attention/kernels/map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/map.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/score-inl.h"

#ifndef HEADSCOPE_KERNELS_MAP_SHARED_
#define HEADSCOPE_KERNELS_MAP_SHARED_
namespace headscope::attention::kernels {

/// Keys whose scores are computed at once; those of a block of rows fit the L1 and L2 caches. A multiple of
/// every target's panel.
inline constexpr std::size_t kMapChunk = 256;

struct MapScratch : ScoreScratch {
  Buffer pooled;
};

}  // namespace headscope::attention::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Marks a masked cell during pooling; less than every weight.
inline constexpr float kUnseen = -1;

/// Turns one row's scores into weights; combines their maximum and sum with those of earlier rows in the
/// group.
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

/// Pools every `factor` columns of a group into one pixel.
HWY_INLINE void poolColumns(const float* max, const float* sum, size_t offset, size_t count, size_t factor,
                            float* pooledMax, float* pooledSum) {
  for (size_t j = offset; j < offset + count; j += factor) {
    float largest = kUnseen, total = 0;
    for (size_t c = j; c < std::min(j + factor, offset + count); ++c) {
      largest = std::max(largest, max[c]);
      total += sum[c];
    }
    // A maximum may lose NaN, a sum doesn't.
    if (std::isnan(total)) largest = total;
    const bool visible = largest != kUnseen;
    if (pooledMax) *pooledMax++ = visible ? largest : kMinusInfinity;
    if (pooledSum) *pooledSum++ = visible ? total : kMinusInfinity;
  }
}

/// Stores one row's weights cell by cell, −inf where masked.
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

/// Stores a chunk's cells unpooled: each pixel's largest weight and sum are the cell's weight.
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
  ScoreBlock scores = scoreBlock(part, kMapChunk, scratch);
  scores.runsPassed = part.runsPassed;
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

HWY_EXPORT(poolRows);

}  // namespace

std::size_t mapBlocks(const MapRows& part) {
  return (part.keyEnd - part.keyBegin + part.factor - 1) / part.factor;
}

void poolWeights(const MapRows& part, const float* lse, float* max, float* sum) {
  static thread_local MapScratch scratch;
  HWY_DYNAMIC_DISPATCH(poolRows)(part, lse, max, sum, scratch);
}

}  // namespace headscope::attention::kernels
#endif

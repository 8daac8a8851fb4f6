#include "attention/kernels/attend.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/attend.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/score-inl.h"
#include "hwy/cache_control.h"

// If weights aren't stored, keys are processed a few hundred at a time with the running maximum and sum of
// Milakov and Gimelshein (2018): a row's accumulated values are scaled down whenever a larger score appears.

#ifndef HEADSCOPE_KERNELS_ATTEND_SHARED_
#define HEADSCOPE_KERNELS_ATTEND_SHARED_
namespace headscope::attention::kernels {

/// Keys processed at once if weights aren't stored; a multiple of every target's panel.
inline constexpr std::size_t kChunk = 512;
/// Keys whose values the strips of a block read repeatedly; they fill half of the L1 cache.
inline constexpr std::size_t kValueDepth = 192;

struct AttendScratch : ScoreScratch {
  Buffer output, rows;
};

}  // namespace headscope::attention::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

size_t stripRows() {
  return kRows;
}

size_t widthOfPanel() {
  return panelColumns();
}

void packKeyPanels(const float* k, size_t rowStride, size_t keys, size_t headDim, size_t first, size_t count,
                   float* panels) {
  const size_t panel = panelColumns();
  for (size_t key = first; key < first + count; key += panel)
    packPanel(k + key * rowStride, rowStride, std::min(panel, keys - key), panel, headDim,
              panels + key * headDim);
}

void packValuePanels(const float* v, size_t rowStride, size_t keys, size_t headDim, size_t first,
                     size_t count, float* panels) {
  const size_t panel = panelColumns(), all = roundedUp(keys, panel);
  // The last call also fills the padding of the last panel.
  const size_t end = first + count == keys ? all : first + count;
  for (size_t column = 0; column < headDim; column += panel)
    for (size_t key = first; key < end; ++key) {
      float* const to = panels + column * all + key * panel;
      const size_t filled = key < keys ? std::min(panel, headDim - column) : 0;
      std::copy_n(v + key * rowStride + column, filled, to);
      std::fill(to + filled, to + panel, 0.0f);
    }
}

/// The running softmax of the block's rows.
struct Running {
  float* max = nullptr;     ///< largest score so far
  float* sum = nullptr;     ///< Σ exp(score − max)
  float* output = nullptr;  ///< Σ exp(score − max)·v, [rows, stride]
  size_t stride = 0;
};

HWY_INLINE float largest(const ScoreBlock& scores, size_t r) {
  const Lane d;
  const size_t n = hn::Lanes(d), panel = panelColumns(), panels = scores.panels();
  const std::uint8_t* const active = scores.activeOf(r / kRows);
  Lanes a = hn::Set(d, kMinusInfinity), b = a;
  for (PanelRange range = nextActive(active, 0, panels); range.begin < panels;
       range = nextActive(active, range.end, panels))
    for (size_t j = range.begin * panel; j < range.end * panel; j += panel) {
      a = hn::Max(hn::LoadU(d, scores.row(r) + j), a);
      b = hn::Max(hn::LoadU(d, scores.row(r) + j + n), b);
    }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

/// Replaces scores by exp(score − max) and returns their sum; NaN if the row has a score that is NaN or +inf.
HWY_INLINE float exponentials(const ScoreBlock& scores, size_t r, float max) {
  const Lane d;
  const size_t n = hn::Lanes(d), panel = panelColumns(), panels = scores.panels();
  const std::uint8_t* const active = scores.activeOf(r / kRows);
  // If the row hasn't seen a key yet, everything is exp(−inf).
  const Lanes top = hn::Set(d, max == kMinusInfinity ? 0.0f : max);
  Lanes a = hn::Zero(d), b = a;
  for (PanelRange range = nextActive(active, 0, panels); range.begin < panels;
       range = nextActive(active, range.end, panels))
    for (size_t j = range.begin * panel; j < range.end * panel; j += panel) {
      float* const at = scores.row(r) + j;
      const Lanes left = expNonPositive(hn::Sub(hn::LoadU(d, at), top));
      const Lanes right = expNonPositive(hn::Sub(hn::LoadU(d, at + n), top));
      hn::StoreU(left, d, at);
      hn::StoreU(right, d, at + n);
      a = hn::Add(a, left);
      b = hn::Add(b, right);
    }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

HWY_INLINE void scaleRow(float* row, size_t count, float factor) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes f = hn::Set(d, factor);
  for (size_t i = 0; i < count; i += n) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
}

/// Rescales the rows' accumulated values to the new maximum, then turns scores into exponentials.
HWY_INLINE void takeScores(const ScoreBlock& scores, const Running& running) {
  for (size_t r = 0; r < scores.rows; ++r) {
    const float before = running.max[r];
    const float max = std::max(before, largest(scores, r));
    if (before != kMinusInfinity && max > before) {
      const float factor = std::exp(before - max);
      running.sum[r] *= factor;
      scaleRow(running.output + r * running.stride, running.stride, factor);
    }
    running.max[r] = max;
    running.sum[r] += exponentials(scores, r, max);
  }
}

/// output += exponentials · values.
HWY_INLINE void gatherValues(const ScoreBlock& scores, const AttendBlock& block, const Running& running) {
  const size_t panel = panelColumns(), panels = scores.panels();
  const size_t all = roundedUp(block.keys.keys, panel), depth = kValueDepth / panel;
  for (size_t first = 0; first < panels; first += depth)
    for (size_t column = 0; column < running.stride; column += panel) {
      const float* const values = block.values + column * all + scores.keyBegin * panel;
      for (size_t strip = 0; strip < scores.strips(); ++strip) {
        const size_t end = std::min(first + depth, panels);
        for (PanelRange range = nextActive(scores.activeOf(strip), first, end); range.begin < end;
             range = nextActive(scores.activeOf(strip), range.end, end)) {
          const size_t key = range.begin * panel;
          productRows(scores.rowsOf(strip), (range.end - range.begin) * panel,
                      scores.row(strip * kRows) + key, scores.stride, 1, values + key * panel, panel,
                      running.output + strip * kRows * running.stride + column, running.stride, true);
        }
      }
    }
}

/// Stores whole(i) to each whole vector and single(i) to the numbers before and after. Vectors are aligned
/// and bypass the caches if `stream`.
template <typename Whole, typename Single>
HWY_INLINE void storeEach(float* HWY_RESTRICT to, size_t count, bool stream, Whole whole, Single single) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  if (stream) {
    const size_t over = reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % n;
    for (const size_t head = std::min(count, over ? n - over : 0); i < head; ++i) to[i] = single(i);
    for (; i + n <= count; i += n) hn::Stream(whole(i), d, to + i);
  }
  for (; i + n <= count; i += n) hn::StoreU(whole(i), d, to + i);
  for (; i < count; ++i) to[i] = single(i);
}

HWY_INLINE void storeScaled(const float* HWY_RESTRICT from, size_t count, float factor, bool stream,
                            float* HWY_RESTRICT to) {
  const Lane d;
  const Lanes f = hn::Set(d, factor);
  storeEach(
      to, count, stream, [&](size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, from + i), f); },
      [&](size_t i) HWY_ATTR { return from[i] * factor; });
}

HWY_INLINE void storeConstant(float* to, size_t count, float value, bool stream) {
  const Lanes v = hn::Set(Lane(), value);
  storeEach(
      to, count, stream, [&](size_t) HWY_ATTR { return v; }, [&](size_t) HWY_ATTR { return value; });
}

/// Stores a row of the block's memory: active panels times `factor`, `rest` elsewhere.
HWY_INLINE void storeRow(const ScoreBlock& scores, size_t r, float factor, float rest, bool stream,
                         float* to) {
  const size_t panel = panelColumns(), panels = scores.panels(), keys = scores.keyEnd;
  const std::uint8_t* const active = scores.activeOf(r / kRows);
  size_t from = 0;
  for (PanelRange range = nextActive(active, 0, panels); range.begin < panels;
       range = nextActive(active, range.end, panels)) {
    const size_t begin = range.begin * panel, end = std::min(range.end * panel, keys);
    storeConstant(to + from, begin - from, rest, stream);
    storeScaled(scores.row(r) + begin, end - begin, factor, stream, to + begin);
    from = end;
  }
  storeConstant(to + from, keys - from, rest, stream);
}

/// Stores a row with a score that is NaN or +inf: NaN for every visible key, except where the score is −inf.
void storeBrokenRow(const AttendBlock& block, size_t r, float* to) {
  std::fill_n(to, block.keys.keys, 0.0f);
  const ScoreRules& rules = block.rules;
  for (const Run* run = rules.runs + rules.firstRun[r]; run != rules.runs + rules.firstRun[r + 1]; ++run)
    for (size_t j = run->begin; j < run->end; ++j) {
      float dot = 0;
      for (size_t t = 0; t < block.keys.headDim; ++t)
        dot += block.q[r * block.qRow + t] * rules.scale * block.k[j * block.kRow + t];
      const bool silent = dot == kMinusInfinity && rules.softcap == 0;
      if (!silent) to[j] = std::numeric_limits<float>::quiet_NaN();
    }
}

HWY_INLINE void storeRows(const ScoreBlock& scores, const AttendBlock& block, const Running& running) {
  for (size_t r = 0; r < block.rows; ++r) {
    const float sum = running.sum[r];
    // Without a visible key the sum is 0, and so is everything it divides.
    const float factor = sum == 0 ? 0 : 1 / sum;
    if (block.weights) {
      float* const to = block.weights + r * block.weightsRow;
      if (std::isnan(sum))
        storeBrokenRow(block, r, to);
      else
        storeRow(scores, r, factor, 0, block.stream, to);
    }
    if (block.lse) block.lse[r] = sum == 0 ? kMinusInfinity : running.max[r] + std::log(sum);
    if (block.output)
      storeScaled(running.output + r * running.stride, block.keys.headDim, factor, false,
                  block.output + r * block.outputRow);
  }
}

void attendBlock(const AttendBlock& block, AttendScratch& scratch) {
  const size_t panel = panelColumns(), headDim = block.keys.headDim;
  const bool stores = block.weights || block.scores;
  const size_t chunk = stores ? std::max(block.keys.keys, panel) : kChunk;
  const size_t strips = (block.rows + kRows - 1) / kRows;
  ScoreBlock scores = scoreBlock(block, std::min(chunk, block.keys.keys), scratch);
  findRuns(scores);

  Running running;
  running.stride = block.output ? roundedUp(headDim, panel) : 0;
  running.max = scratch.rows.atLeast(2 * strips * kRows);
  running.sum = running.max + strips * kRows;
  running.output = scratch.output.atLeast(strips * kRows * running.stride);
  std::fill_n(running.max, block.rows, kMinusInfinity);
  std::fill_n(running.sum, block.rows, 0.0f);
  std::fill_n(running.output, block.rows * running.stride, 0.0f);

  for (size_t key = 0; key < block.keys.keys; key += chunk) {
    if (block.stop && block.stop->stop_requested()) return;
    scores.keyBegin = key;
    scores.keyEnd = std::min(key + chunk, block.keys.keys);
    computeScores(scores, block.keys.data);
    if (block.scores)
      for (size_t r = 0; r < block.rows; ++r)
        storeRow(scores, r, 1, kMinusInfinity, block.stream, block.scores + r * block.weightsRow);
    takeScores(scores, running);
    if (block.output) gatherValues(scores, block, running);
  }
  storeRows(scores, block, running);
  // Make the stores that bypassed the caches visible to other threads, however they synchronise.
  if (block.stream) hwy::FlushStream();
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(stripRows);
HWY_EXPORT(widthOfPanel);
HWY_EXPORT(packKeyPanels);
HWY_EXPORT(packValuePanels);
HWY_EXPORT(attendBlock);

std::size_t wholePanels(std::size_t count) {
  const std::size_t panel = panelWidth();
  return (count + panel - 1) / panel * panel;
}

/// The floats of a block's scores, few enough to stay in the L2 cache.
constexpr std::size_t kScoreFloats = std::size_t{64} << 10;

}  // namespace

std::size_t panelWidth() {
  return HWY_DYNAMIC_DISPATCH(widthOfPanel)();
}

std::size_t keyPanelFloats(std::size_t keys, std::size_t headDim) {
  return wholePanels(keys) * headDim;
}

std::size_t valuePanelFloats(std::size_t keys, std::size_t headDim) {
  return wholePanels(keys) * wholePanels(headDim);
}

void packKeys(const float* k, std::size_t rowStride, std::size_t keys, std::size_t headDim, std::size_t first,
              std::size_t count, float* panels) {
  HWY_DYNAMIC_DISPATCH(packKeyPanels)(k, rowStride, keys, headDim, first, count, panels);
}

void packValues(const float* v, std::size_t rowStride, std::size_t keys, std::size_t headDim,
                std::size_t first, std::size_t count, float* panels) {
  HWY_DYNAMIC_DISPATCH(packValuePanels)(v, rowStride, keys, headDim, first, count, panels);
}

std::size_t attendRows(std::size_t keys, bool storesWeights) {
  const std::size_t strip = HWY_DYNAMIC_DISPATCH(stripRows)();
  const std::size_t held = storesWeights ? keys : std::min(keys, kChunk);
  return std::clamp(kScoreFloats / std::max<std::size_t>(held, 1) / strip, std::size_t{1}, 48 / strip) *
         strip;
}

void attend(const AttendBlock& block) {
  static thread_local AttendScratch scratch;
  HWY_DYNAMIC_DISPATCH(attendBlock)(block, scratch);
}

}  // namespace headscope::attention::kernels
#endif

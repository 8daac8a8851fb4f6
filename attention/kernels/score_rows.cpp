#include "attention/kernels/score_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/score_rows.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

SeenKeys seenOf(const float* scores, size_t count) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes hidden = hn::Set(d, kMinusInfinity);
  SeenKeys seen;
  size_t i = 0;
  // From front to back only, as processors prefetch it: searching for the end from the back, which skips half
  // of a causal mask, takes twice as long if the scores come from memory.
  for (; i + n <= count; i += n) {
    const size_t here = hn::CountTrue(d, hn::Gt(hn::LoadU(d, scores + i), hidden));
    seen.count += here;
    seen.end = here > 0 ? i + n : seen.end;
  }
  for (; i < count; ++i)
    if (scores[i] > kMinusInfinity) ++seen.count, seen.end = i + 1;
  while (seen.end > 0 && !(scores[seen.end - 1] > kMinusInfinity)) --seen.end;
  return seen;
}

float mostOf(const float* values, size_t count) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes most = hn::Set(d, kMinusInfinity), sum = hn::Zero(d);
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const Lanes v = hn::LoadU(d, values + i);
    most = hn::Max(most, v);
    sum = hn::Add(sum, hn::Sub(v, v));  // NaN for NaN and infinities, which are then handled one by one
  }
  float largest = kMinusInfinity;
  if (!hn::AllTrue(d, hn::Eq(sum, sum)))
    i = 0;
  else if (count >= n)
    largest = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < count; ++i) {
    if (std::isnan(values[i])) return values[i];
    largest = std::max(largest, values[i]);
  }
  return largest;
}

void markedRow(const float* HWY_RESTRICT scores, const float* HWY_RESTRICT values, size_t count,
               float* HWY_RESTRICT to, RowExtremes& extremes) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes infinity = hn::Inf(d), hidden = hn::Neg(infinity);
  Lanes low = infinity, high = hidden, most = hn::Zero(d);
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const Lanes score = hn::LoadU(d, scores + i), value = hn::LoadU(d, values + i);
    // Comparisons with NaN are false.
    const auto above = hn::Gt(score, hidden), below = hn::Lt(score, infinity);
    const Lanes size = hn::Abs(value);
    low = hn::Min(low, hn::IfThenElse(above, score, infinity));
    high = hn::Max(high, hn::IfThenElse(below, score, hidden));
    most = hn::Max(most, hn::IfThenElseZero(hn::Lt(size, infinity), size));
    hn::StoreU(hn::IfThenElse(hn::Eq(score, hidden), hidden, value), d, to + i);
  }
  extremes.low = std::min(extremes.low, hn::GetLane(hn::MinOfLanes(d, low)));
  extremes.high = std::max(extremes.high, hn::GetLane(hn::MaxOfLanes(d, high)));
  extremes.most = std::max(extremes.most, hn::GetLane(hn::MaxOfLanes(d, most)));
  for (; i < count; ++i) {
    const float score = scores[i], size = std::abs(values[i]);
    if (score > kMinusInfinity) extremes.low = std::min(extremes.low, score);
    if (score < -kMinusInfinity) extremes.high = std::max(extremes.high, score);
    if (size < -kMinusInfinity) extremes.most = std::max(extremes.most, size);
    to[i] = score == kMinusInfinity ? kMinusInfinity : values[i];
  }
}

/// Returns the larger value of each lane; NaN if one is NaN.
HWY_INLINE Lanes larger(Lanes a, Lanes b) {
  return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::IsNaN(b)), b, a);
}

HWY_INLINE float largerOf(float a, float b) {
  return ((b > a) | (b != b)) ? b : a;
}

/// Writes the largest values of `cols` columns.
HWY_INLINE void poolColumns(const float* values, size_t rowStride, size_t rows, size_t cols, float* best) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  size_t col = 0;
  for (; col + n <= cols; col += n) {
    Lanes most = hn::LoadU(d, values + col);
    for (size_t row = 1; row < rows; ++row) most = larger(most, hn::LoadU(d, values + row * rowStride + col));
    hn::StoreU(most, d, best + col);
  }
  for (; col < cols; ++col) {
    best[col] = values[col];
    for (size_t row = 1; row < rows; ++row) best[col] = largerOf(best[col], values[row * rowStride + col]);
  }
}

/// Replaces each two of the values by the larger one. Returns how many remain.
HWY_INLINE size_t poolPairs(float* best, size_t count) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Lane d;
  const size_t n = hn::Lanes(d);
  for (; i + 2 * n <= count; i += 2 * n) {
    const Lanes low = hn::LoadU(d, best + i), high = hn::LoadU(d, best + i + n);
    hn::StoreU(larger(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), d, best + i / 2);
  }
#endif
  for (; i + 1 < count; i += 2) best[i / 2] = largerOf(best[i], best[i + 1]);
  if (i < count) best[i / 2] = best[i];
  return (count + 1) / 2;
}

void pooledRows(const float* values, size_t rowStride, size_t rows, size_t cols, size_t factor, float* out) {
  constexpr size_t kBlock = 1024;  // columns at once, so that they stay in the L1 cache
  static thread_local Buffer buffer;
  const size_t block = std::max(factor, kBlock / factor * factor);
  float* const best = buffer.atLeast(std::min(block, cols));
  for (size_t left = 0; left < cols; left += block) {
    size_t count = std::min(block, cols - left), each = factor;
    poolColumns(values + left, rowStride, rows, count, best);
    for (; each % 2 == 0; each /= 2) count = poolPairs(best, count);
    if (each == 1) {
      out = std::copy_n(best, count, out);
      continue;
    }
    for (size_t i = 0; i < count; i += each)
      *out++ = std::accumulate(best + i + 1, best + std::min(i + each, count), best[i], largerOf);
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {
HWY_EXPORT(seenOf);
HWY_EXPORT(mostOf);
HWY_EXPORT(markedRow);
HWY_EXPORT(pooledRows);
}  // namespace

SeenKeys seenKeys(const float* scores, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(seenOf)(scores, count);
}
float largestOf(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(mostOf)(values, count);
}
void markRow(const float* scores, const float* values, std::size_t count, float* to, RowExtremes& extremes) {
  HWY_DYNAMIC_DISPATCH(markedRow)(scores, values, count, to, extremes);
}
void poolRows(const float* values, std::size_t rowStride, std::size_t rows, std::size_t cols,
              std::size_t factor, float* out) {
  HWY_DYNAMIC_DISPATCH(pooledRows)(values, rowStride, rows, cols, factor, out);
}

}  // namespace headscope::attention::kernels
#endif

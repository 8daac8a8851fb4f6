#include "attention/kernels/decode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/decode.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which sets the target that this is compiled for.
#include "attention/kernels/numbers-inl.h"
#include "attention/kernels/vector-inl.h"
#include "hwy/cache_control.h"
#include "hwy/contrib/math/math-inl.h"

#ifndef HEADSCOPE_KERNELS_DECODE_SHARED_
#define HEADSCOPE_KERNELS_DECODE_SHARED_
namespace headscope::attention::kernels {

/// Keys that are taken at once: their values stay in the first cache.
inline constexpr std::size_t kDecodeKeys = 32;
/// Heads whose sums are held in registers together.
inline constexpr std::size_t kDecodeHeads = 4;
/// Rows of keys that are asked for ahead of their use.
inline constexpr std::size_t kAhead = 64;
/// Bytes that memory brings at once.
inline constexpr std::size_t kLine = 64;

}  // namespace headscope::attention::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Dot products of kHeads queries with one key.
template <size_t kHeads, typename Number>
HWY_INLINE void dots(const float* HWY_RESTRICT q, const Number* HWY_RESTRICT key, size_t headDim, float* to) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes sums[kHeads];
  HWY_UNROLL(4)
  for (size_t h = 0; h < kHeads; ++h) sums[h] = hn::Zero(d);
  size_t t = 0;
  for (; t + n <= headDim; t += n) {
    const Lanes k = loadNumbers(key + t);
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h) sums[h] = hn::MulAdd(hn::LoadU(d, q + h * headDim + t), k, sums[h]);
  }
  if (t < headDim) {
    const Lanes k = loadNumbersPart(key + t, headDim - t);
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h)
      sums[h] = hn::MulAdd(loadPart(q + h * headDim + t, headDim - t), k, sums[h]);
  }
  HWY_UNROLL(4)
  for (size_t h = 0; h < kHeads; ++h) to[h * kDecodeKeys] = hn::GetLane(hn::SumOfLanes(d, sums[h]));
}

/// output[h] += Σ weights[h][key]·values[key] over a vector of dimensions that begins at `values`.
template <size_t kHeads, typename Load>
HWY_INLINE void gather(size_t keys, const float* HWY_RESTRICT weights, float* const* output,
                       const Load& load) {
  const Lane d;
  Lanes sums[kHeads];
  HWY_UNROLL(4)
  for (size_t h = 0; h < kHeads; ++h) sums[h] = hn::LoadU(d, output[h]);
  for (size_t key = 0; key < keys; ++key) {
    const Lanes v = load(key);
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h)
      sums[h] = hn::MulAdd(hn::Set(d, weights[h * kDecodeKeys + key]), v, sums[h]);
  }
  HWY_UNROLL(4)
  for (size_t h = 0; h < kHeads; ++h) hn::StoreU(sums[h], d, output[h]);
}

/// Scale, bias, soft-cap, additive numbers and the mask on one head's products with keys key … key+count−1.
HWY_INLINE void finishScores(const DecodePart& part, size_t head, size_t key, size_t count, float* scores) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes scale = hn::Set(d, part.scale), cap = hn::Set(d, part.softcap);
  const Lanes inverse = hn::Set(d, part.softcap != 0 ? 1 / part.softcap : 0);
  for (size_t j = 0; j < count; j += n) {
    Lanes s = hn::Mul(hn::Load(d, scores + j), scale);
    const size_t some = std::min(n, count - j);
    if (part.bias) s = hn::Add(s, loadPart(part.bias[head] + key + j, some));
    if (part.softcap != 0) s = hn::Mul(hn::CallTanh(d, hn::Mul(s, inverse)), cap);
    if (part.added) s = hn::Add(s, loadPart(part.added[head] + key + j, some));
    hn::Store(s, d, scores + j);
  }
  size_t from = key;
  const Run* const end = part.runs + part.firstRun[head + 1];
  for (const Run* run = part.runs + part.firstRun[head]; run != end && run->begin < key + count; ++run) {
    if (run->end <= from) continue;
    if (run->begin > from) std::fill(scores + (from - key), scores + (run->begin - key), kMinusInfinity);
    from = std::min(run->end, key + count);
  }
  std::fill(scores + (from - key), scores + kDecodeKeys, kMinusInfinity);
}

/// The running softmax of one head takes some scores in, which become exponentials.
HWY_INLINE void takeScores(const DecodePart& part, size_t head, size_t stride, float* scores, float* output) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes top = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < kDecodeKeys; j += n) top = hn::Max(hn::Load(d, scores + j), top);
  const float before = part.max[head];
  const float max = std::max(before, hn::GetLane(hn::MaxOfLanes(d, top)));
  if (before != kMinusInfinity && max > before) {
    const float factor = std::exp(before - max);
    part.sum[head] *= factor;
    for (size_t t = 0; t < stride; ++t) output[t] *= factor;
  }
  const Lanes reference = hn::Set(d, max == kMinusInfinity ? 0.0f : max);
  Lanes total = hn::Zero(d);
  for (size_t j = 0; j < kDecodeKeys; j += n) {
    const Lanes e = expNonPositive(hn::Sub(hn::Load(d, scores + j), reference));
    hn::Store(e, d, scores + j);
    total = hn::Add(total, e);
  }
  part.max[head] = max;
  part.sum[head] += hn::GetLane(hn::SumOfLanes(d, total));
}

/// Asks for a row to be brought near; beyond the cache's end nothing happens.
template <typename Number>
HWY_INLINE void fetchRow(const Number* row, size_t headDim) {
  for (size_t t = 0; t < headDim; t += kLine / sizeof(Number)) hwy::Prefetch(row + t);
}

/// kHeads heads from `head` on over one stretch of keys.
template <size_t kHeads, typename Number>
HWY_INLINE void takeKeys(const DecodePart& part, size_t head, size_t key, size_t count, size_t stride,
                         float* output) {
  const Lane d;
  const size_t n = hn::Lanes(d), headDim = part.headDim;
  HWY_ALIGN float scores[kHeads * kDecodeKeys];
  const Number* const keys = static_cast<const Number*>(part.keys) + key * headDim;
  const Number* const values = static_cast<const Number*>(part.values) + key * headDim;
  const float* const q = part.q + head * headDim;
  for (size_t j = 0; j < count; ++j) {
    // Both streams at once: the values come while the keys are worked on, and the keys some rows ahead.
    fetchRow(values + j * headDim, headDim);
    fetchRow(keys + (j + kAhead) * headDim, headDim);
    dots<kHeads>(q, keys + j * headDim, headDim, scores + j);
  }
  float* places[kHeads];
  for (size_t h = 0; h < kHeads; ++h) {
    float* const own = scores + h * kDecodeKeys;
    std::fill(own + count, own + kDecodeKeys, 0.0f);
    finishScores(part, head + h, key, count, own);
    if (part.scores) std::copy_n(own, count, part.scores + (head + h) * part.scoresRow + key);
    takeScores(part, head + h, stride, own, output + (head + h) * stride);
  }
  for (size_t t = 0; t < headDim; t += n) {
    for (size_t h = 0; h < kHeads; ++h) places[h] = output + (head + h) * stride + t;
    const size_t some = headDim - t;
    if (some >= n)
      gather<kHeads>(count, scores, places,
                     [&](size_t j) HWY_ATTR { return loadNumbers(values + j * headDim + t); });
    else
      gather<kHeads>(count, scores, places,
                     [&](size_t j) HWY_ATTR { return loadNumbersPart(values + j * headDim + t, some); });
  }
}

/// Whether any head sees a key of these.
HWY_INLINE bool anySees(const DecodePart& part, size_t key, size_t count) {
  const Run* const end = part.runs + part.firstRun[part.heads];
  for (const Run* run = part.runs + part.firstRun[0]; run != end; ++run)
    if (run->begin < key + count && run->end > key) return true;
  return false;
}

template <typename Number>
void decodeAs(const DecodePart& part, float* output) {
  const size_t stride = roundedUp(part.headDim, hn::Lanes(Lane()));
  std::fill_n(part.max, part.heads, kMinusInfinity);
  std::fill_n(part.sum, part.heads, 0.0f);
  std::fill_n(output, part.heads * stride, 0.0f);
  for (size_t key = part.keyBegin; key < part.keyEnd; key += kDecodeKeys) {
    const size_t count = std::min(kDecodeKeys, part.keyEnd - key);
    if (!anySees(part, key, count)) {
      for (size_t h = 0; part.scores && h < part.heads; ++h)
        std::fill_n(part.scores + h * part.scoresRow + key, count, kMinusInfinity);
      continue;
    }
    size_t head = 0;
    for (; head + kDecodeHeads <= part.heads; head += kDecodeHeads)
      takeKeys<kDecodeHeads, Number>(part, head, key, count, stride, output);
    if (part.heads - head >= 2) {
      takeKeys<2, Number>(part, head, key, count, stride, output);
      head += 2;
    }
    if (head < part.heads) takeKeys<1, Number>(part, head, key, count, stride, output);
  }
  for (size_t h = 0; h < part.heads; ++h)
    std::copy_n(output + h * stride, part.headDim, part.output + h * part.headDim);
}

/// output: room for the heads' sums in whole vectors.
void decodePart(const DecodePart& part, float* output) {
  if (part.type == CacheType::f32)
    decodeAs<float>(part, output);
  else if (part.type == CacheType::f16)
    decodeAs<hwy::float16_t>(part, output);
  else
    decodeAs<hwy::bfloat16_t>(part, output);
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(decodePart);

}  // namespace

void decode(const DecodePart& part) {
  static thread_local Buffer output;
  // A vector of any target has at most 64 floats.
  constexpr std::size_t kVector = 64;
  HWY_DYNAMIC_DISPATCH(decodePart)(part, output.atLeast(part.heads * (part.headDim + kVector)));
}

}  // namespace headscope::attention::kernels
#endif

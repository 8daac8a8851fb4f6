#include "attention/kernels/decode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/decode.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/numbers-inl.h"
#include "attention/kernels/score-inl.h"

#ifndef HEADSCOPE_KERNELS_DECODE_SHARED_
#define HEADSCOPE_KERNELS_DECODE_SHARED_
namespace headscope::attention::kernels {

/// Keys processed at once: their rows are long contiguous stretches, which a processor prefetches by itself,
/// and their scores stay in the L1 cache. Interleaving several rows and reading values by column each cost a
/// quarter to a half of the memory bandwidth.
inline constexpr std::size_t kDecodeKeys = 512;
/// Keys skipped together if no head sees them.
inline constexpr std::size_t kPassedOver = 32;
/// Heads whose sums are held in registers together.
inline constexpr std::size_t kDecodeHeads = 4;
inline constexpr std::size_t kCacheLine = 64;

}  // namespace headscope::attention::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Heads gathered together: with eight vectors each, their sums fill half of the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr size_t kGathered = 2;
#else
inline constexpr size_t kGathered = 1;
#endif

/// Bytes that numbers of this type are prefetched ahead; 0 leaves it to the processor. Processing 16-bit
/// numbers leaves it too little capacity to look ahead by itself: a step reads 10 to 20 % more per second
/// this way on Zen 3, and 40 % more on an Intel Xeon with AVX-512. Of fp32, it reads 15 % more on the Xeon,
/// but 5 % less on Zen 3.
#if HWY_TARGET <= HWY_AVX3
template <typename Number>
inline constexpr size_t kDecodeAhead = sizeof(Number) < sizeof(float) ? 4096 : 2048;
#else
template <typename Number>
inline constexpr size_t kDecodeAhead = sizeof(Number) < sizeof(float) ? 2048 : 0;
#endif

/// Returns the sums of kCount adjacent vectors, in order. Adds neighbouring pairs until one vector holds all
/// sums, which takes a third of the steps of summing one vector after another. kCount is a power of 2.
template <size_t kCount>
HWY_INLINE Lanes sumEach(const float* HWY_RESTRICT vectors) {
  const Lane d;
#if HWY_TARGET != HWY_SCALAR  // a scalar vector has nothing to add up
  if constexpr (kCount > 1) {
    constexpr size_t kHalf = kCount / 2;
    const Lanes low = sumEach<kHalf>(vectors), high = sumEach<kHalf>(vectors + kHalf * hn::Lanes(d));
    return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
  }
#endif
  return hn::Load(d, vectors);
}

/// Prefetches the cache line that far after `at`, which points to the first number of a line.
template <typename Number>
HWY_INLINE void fetchAhead(const Number* at) {
  constexpr size_t kAhead = kDecodeAhead<Number>;
  if constexpr (kAhead > 0) hwy::Prefetch(reinterpret_cast<const unsigned char*>(at) + kAhead);
}

/// Computes sums[h] += q[h]·key over kWide vectors of dimensions.
template <size_t kHeads, size_t kWide, typename Number>
HWY_INLINE void multiply(const float* HWY_RESTRICT q, const Number* HWY_RESTRICT key, size_t headDim,
                         Lanes* sums) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  HWY_UNROLL(8)
  for (size_t v = 0; v < kWide; ++v) {
    const Lanes k = loadNumbers(key + v * n);
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h)
      sums[h] = hn::MulAdd(hn::LoadU(d, q + h * headDim + v * n), k, sums[h]);
  }
}

/// Writes the dot products of kHeads queries with at most one vector's number of keys to scores[head][key].
template <size_t kHeads, typename Number>
HWY_INLINE void dots(const float* HWY_RESTRICT q, const Number* HWY_RESTRICT keys, size_t count,
                     size_t headDim, float* HWY_RESTRICT scores) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  HWY_ALIGN float parts[kHeads * hn::MaxLanes(d) * hn::MaxLanes(d)];
  if (count < n) std::fill_n(parts, kHeads * n * n, 0.0f);
  for (size_t j = 0; j < count; ++j, keys += headDim) {
    Lanes sums[kHeads];
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h) sums[h] = hn::Zero(d);
    for (size_t line = 0; line < headDim; line += kCacheLine / sizeof(Number)) fetchAhead(keys + line);
    size_t t = 0;
    for (; t + 8 * n <= headDim; t += 8 * n) multiply<kHeads, 8>(q + t, keys + t, headDim, sums);
    for (; t + n <= headDim; t += n) multiply<kHeads, 1>(q + t, keys + t, headDim, sums);
    if (t < headDim) {
      const Lanes k = loadNumbersPart(keys + t, headDim - t);
      HWY_UNROLL(4)
      for (size_t h = 0; h < kHeads; ++h)
        sums[h] = hn::MulAdd(loadPart(q + h * headDim + t, headDim - t), k, sums[h]);
    }
    HWY_UNROLL(4)
    for (size_t h = 0; h < kHeads; ++h) hn::Store(sums[h], d, parts + (h * n + j) * n);
  }
  for (size_t h = 0; h < kHeads; ++h)
    hn::Store(sumEach<hn::MaxLanes(d)>(parts + h * n * n), d, scores + h * kDecodeKeys);
}

/// Computes output[h] += Σ weights[h][key]·values[key] over kWide vectors of dimensions; `load` reads the
/// values and `output` points to the first dimension.
template <size_t kHeads, size_t kWide, typename Load>
HWY_INLINE void gather(size_t keys, const float* HWY_RESTRICT weights, float* HWY_RESTRICT output,
                       size_t stride, const Load& load) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes sums[kHeads][kWide];
  for (size_t h = 0; h < kHeads; ++h)
    for (size_t v = 0; v < kWide; ++v) sums[h][v] = hn::LoadU(d, output + h * stride + v * n);
  for (size_t key = 0; key < keys; ++key) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kWide; ++v) {
      const Lanes value = load(key, v * n);
      HWY_UNROLL(2)
      for (size_t h = 0; h < kHeads; ++h)
        sums[h][v] = hn::MulAdd(hn::Set(d, weights[h * kDecodeKeys + key]), value, sums[h][v]);
    }
  }
  for (size_t h = 0; h < kHeads; ++h)
    for (size_t v = 0; v < kWide; ++v) hn::StoreU(sums[h][v], d, output + h * stride + v * n);
}

/// The same over all dimensions of a head.
template <size_t kHeads, typename Number>
HWY_INLINE void gatherRows(size_t keys, const Number* HWY_RESTRICT values, size_t headDim,
                           const float* HWY_RESTRICT weights, float* HWY_RESTRICT output, size_t stride) {
  const size_t n = hn::Lanes(Lane());
  size_t t = 0;
  const auto whole = [&](size_t key, size_t from) HWY_ATTR {
    const Number* const at = values + key * headDim + t + from;
    if (from % (kCacheLine / sizeof(Number)) == 0) fetchAhead(at);
    return loadNumbers(at);
  };
  for (; t + 8 * n <= headDim; t += 8 * n) gather<kHeads, 8>(keys, weights, output + t, stride, whole);
  for (; t + 4 * n <= headDim; t += 4 * n) gather<kHeads, 4>(keys, weights, output + t, stride, whole);
  for (; t + n <= headDim; t += n) gather<kHeads, 1>(keys, weights, output + t, stride, whole);
  if (t < headDim)
    gather<kHeads, 1>(keys, weights, output + t, stride, [&](size_t key, size_t) HWY_ATTR {
      return loadNumbersPart(values + key * headDim + t, headDim - t);
    });
}

// The next two run once for hundreds of keys, so a call costs nothing. Inlined at nine places each, they
// would take half of this file's compile time.

/// Applies scale, bias, soft-cap, additive mask and mask to one head's products with keys key … key+count−1.
HWY_NOINLINE void finishScores(const ScoreRules& rules, size_t key, size_t count, float* scores) {
  transformScores<true>(rules, rules.bias ? rules.bias + key : nullptr,
                        rules.added ? rules.added + key : nullptr, count, scores);
  hideScores(rules.runs + rules.firstRun[0], rules.runs + rules.firstRun[1], key, key + count, scores - key);
  std::fill(scores + count, scores + roundedUp(count, hn::Lanes(Lane())), kMinusInfinity);
}

/// Updates the running softmax of one head with some scores, which become exponentials.
HWY_NOINLINE void takeScores(const DecodePart& part, size_t head, size_t count, size_t stride, float* scores,
                             float* output) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes top = hn::Set(d, kMinusInfinity);
  for (size_t j = 0; j < count; j += n) top = hn::Max(hn::Load(d, scores + j), top);
  const float before = part.max[head];
  const float max = std::max(before, hn::GetLane(hn::MaxOfLanes(d, top)));
  if (before != kMinusInfinity && max > before) {
    const float factor = std::exp(before - max);
    part.sum[head] *= factor;
    for (size_t t = 0; t < stride; ++t) output[t] *= factor;
  }
  const Lanes reference = hn::Set(d, max == kMinusInfinity ? 0.0f : max);
  Lanes total = hn::Zero(d);
  for (size_t j = 0; j < count; j += n) {
    const Lanes e = expNonPositive(hn::Sub(hn::Load(d, scores + j), reference));
    hn::Store(e, d, scores + j);
    total = hn::Add(total, e);
  }
  part.max[head] = max;
  part.sum[head] += hn::GetLane(hn::SumOfLanes(d, total));
}

/// Processes one stretch of keys for kHeads heads, starting at `head`.
template <size_t kHeads, typename Number>
HWY_INLINE void takeKeys(const DecodePart& part, size_t head, size_t key, size_t count, size_t stride,
                         float* output) {
  const size_t headDim = part.headDim;
  HWY_ALIGN float scores[kHeads * kDecodeKeys];
  const Number* const keys = static_cast<const Number*>(part.keys) + key * headDim;
  const Number* const values = static_cast<const Number*>(part.values) + key * headDim;
  const float* const q = part.q + head * headDim;
  const size_t n = hn::Lanes(Lane());
  for (size_t j = 0; j < count; j += n)
    dots<kHeads>(q, keys + j * headDim, std::min(n, count - j), headDim, scores + j);
  float* const sums = output + head * stride;
  for (size_t h = 0; h < kHeads; ++h) {
    float* const own = scores + h * kDecodeKeys;
    finishScores(part.rules[head + h], key, count, own);
    if (part.scores) std::copy_n(own, count, part.scores + (head + h) * part.scoresRow + key);
    takeScores(part, head + h, count, stride, own, sums + h * stride);
  }
  constexpr size_t kTogether = kHeads < kGathered ? kHeads : kGathered;
  for (size_t h = 0; h < kHeads; h += kTogether)
    gatherRows<kTogether>(count, values, headDim, scores + h * kDecodeKeys, sums + h * stride, stride);
}

/// Whether any head sees one of these keys.
HWY_INLINE bool anySees(const DecodePart& part, size_t key, size_t end) {
  return std::any_of(part.rules, part.rules + part.heads, [&](const ScoreRules& rules) {
    return std::any_of(rules.runs + rules.firstRun[0], rules.runs + rules.firstRun[1],
                       [&](const Run& run) { return run.begin < end && run.end > key; });
  });
}

/// Returns how many keys to process from `key` on; 0 if the next ones are skipped.
HWY_INLINE size_t seenKeys(const DecodePart& part, size_t key) {
  const size_t end = std::min(key + kDecodeKeys, part.keyEnd);
  size_t seen = key;
  while (seen < end && anySees(part, seen, seen + kPassedOver)) seen += kPassedOver;
  return std::min(seen, end) - key;
}

template <typename Number>
void decodeAs(const DecodePart& part, float* output) {
  const size_t stride = roundedUp(part.headDim, hn::Lanes(Lane()));
  std::fill_n(part.max, part.heads, kMinusInfinity);
  std::fill_n(part.sum, part.heads, 0.0f);
  std::fill_n(output, part.heads * stride, 0.0f);
  for (size_t key = part.keyBegin, count = 0; key < part.keyEnd; key += count) {
    count = seenKeys(part, key);
    if (count == 0) {
      count = std::min(kPassedOver, part.keyEnd - key);
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

/// `output` has space for the heads' sums in whole vectors.
void decodePart(const DecodePart& part, float* output) {
  if (part.type == CacheType::f32)
    decodeAs<float>(part, output);
  else if (part.type == CacheType::f16)
    decodeAs<hwy::float16_t>(part, output);
  else
    decodeAs<hwy::bfloat16_t>(part, output);
}

void weighKeys(const float* scores, size_t count, float lse, float* weights) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes reference = hn::Set(d, lse == kMinusInfinity ? 0.0f : lse);  // no key is visible
  const auto weightOf = [&](Lanes score)
                            HWY_ATTR { return expNonPositive(atMostZero(hn::Sub(score, reference))); };
  size_t j = 0;
  for (; j + n <= count; j += n) hn::StoreU(weightOf(hn::LoadU(d, scores + j)), d, weights + j);
  if (j < count) storePart(weightOf(loadPart(scores + j, count - j)), count - j, weights + j);
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(decodePart);
HWY_EXPORT(weighKeys);

}  // namespace

void decode(const DecodePart& part) {
  static thread_local Buffer output;
  // A vector of any target has at most 64 floats.
  constexpr std::size_t kVector = 64;
  HWY_DYNAMIC_DISPATCH(decodePart)(part, output.atLeast(part.heads * (part.headDim + kVector)));
}

void weigh(const float* scores, std::size_t count, float lse, float* weights) {
  HWY_DYNAMIC_DISPATCH(weighKeys)(scores, count, lse, weights);
}

}  // namespace headscope::attention::kernels
#endif

// Weights in blocks times rows of whole numbers. Compiled once for each target, so the only include guard is
// Highway's.
#if defined(HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "attention/kernels/digit_large-inl.h"
#include "attention/kernels/digit_small-inl.h"

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Outputs computed together, sharing what is read of the input.
inline constexpr size_t kManyOutputs = HWY_TARGET == HWY_AVX3 ? 2 : 1;

template <size_t kOutputs>
struct OutputSums {
  Lanes of[kOutputs];
  HWY_INLINE OutputSums() {
    for (Lanes& sums : of) sums = hn::Zero(Lane());
  }
};

/// The next blocks of some outputs' weights, and the scales of these blocks if stored apart.
template <class Type, size_t kOutputs>
struct NextBlocks {
  const Byte *blocks[kOutputs], *scales[kOutputs];

  HWY_INLINE NextBlocks(const WeightColumns& weight, size_t output) {
    const size_t row = weight.row / Type::kNumbers;
    for (size_t o = 0; o < kOutputs; ++o) {
      const size_t block = rowOfOutput(weight.first + output + o, weight.paired) * row;
      blocks[o] = weight.data + block * Type::kBytes;
      scales[o] = weight.scales ? weight.scales + block : nullptr;
    }
    // A long input row needs most of the L1 cache, so weights are prefetched into L2.
    toSecondCache = weight.row > 4096;
    ahead = blocks[0] + std::max(toSecondCache ? size_t{8192} : size_t{1024}, kOutputs * row * Type::kBytes);
  }

  /// Prefetches as many bytes as the outputs read now. Memory is fastest when read sequentially, although
  /// several outputs are processed in turn.
  template <size_t kBytes>
  HWY_INLINE void fetchAhead() {
    for (size_t i = 0; i < kOutputs * kBytes; i += 64)
      if (toSecondCache)
        __builtin_prefetch(ahead + i, 0, 2);
      else
        __builtin_prefetch(ahead + i, 0, 3);
    ahead += kOutputs * kBytes;
  }

 private:
  const Byte* ahead;
  bool toSecondCache;
};

/// Adds the products of one block's vectors from v on; `digits` and `taken` (sums of four) begin at that
/// vector.
template <class Type, size_t kOutputs, size_t v = 0>
HWY_INLINE void addVectors(const Byte* const (&b)[kOutputs], const typename Type::Own (&factors)[kOutputs],
                           const std::int8_t* digits, const std::int32_t* taken, OutputSums<kOutputs>& sums) {
  constexpr size_t kVectors = Type::kTogether;
  for (size_t o = 0; o < kOutputs; ++o) {
    CodeVector codes[kVectors] = {Type::template codes<v>(b[o])};
    if constexpr (kVectors == 2) codes[1] = Type::template codes<v + 1>(b[o]);
    IntLanes fours = foursOf(codes, digits);
    if constexpr (!Type::kOffsets) fours = hn::Add(fours, hn::LoadU(IntLane(), taken));
    sums.of[o] = hn::MulAdd(hn::ConvertTo(Lane(), fours), Type::template factor<v>(factors[o]), sums.of[o]);
  }
  if constexpr ((v + kVectors) * kWide < 256)
    addVectors<Type, kOutputs, v + kVectors>(b, factors, digits + 3 * kWide * kVectors,
                                             taken + kLanes * kVectors, sums);
}

/// Computes y[o] = Σ w·x for some outputs with weights in blocks of 256 numbers.
template <class Type, size_t kOutputs>
HWY_INLINE void largeBlocks(NextBlocks<Type, kOutputs> next, const DigitRow& x, float* y) {
  OutputSums<kOutputs> sums, offsets;
  for (size_t done = 0, scale = 0; done < x.in; done += 256, scale += Type::kScales) {
    next.template fetchAhead<Type::kBytes>();
    typename Type::Own factors[kOutputs];
    for (size_t o = 0; o < kOutputs; ++o) {
      factors[o] = Type::factors(next.blocks[o]).times(x.scales + scale);
      if constexpr (Type::kOffsets)
        for (const Lanes& part : factors[o].parts) offsets.of[o] = hn::Add(offsets.of[o], part);
    }
    addVectors<Type, kOutputs>(next.blocks, factors, x.digits + 3 * done, x.taken + done / 4, sums);
    for (const Byte*& b : next.blocks) b += Type::kBytes;
  }
  // Factors and offsets alternate, four of each.
  const auto fours = hn::And(hn::Iota(IntLane(), 0), hn::Set(IntLane(), 4));
  const auto second = hn::RebindMask(Lane(), hn::Ne(fours, hn::Zero(IntLane())));
  for (size_t o = 0; o < kOutputs; ++o)
    y[o] =
        hn::GetLane(hn::SumOfLanes(Lane(), hn::Add(sums.of[o], hn::IfThenElseZero(second, offsets.of[o]))));
}

/// Returns sums plus the products of one vector's blocks, which begin at number `done` of the row. The scale
/// pointers locate the blocks' d.
template <class Type>
HWY_INLINE Lanes addSmall(const Byte* first, const Byte* second, const Byte* firstScale,
                          const Byte* secondScale, const DigitRow& x, size_t done, Lanes sums) {
  const CodeVector codes[] = {Type::codes(first, second)};
  const Lanes d = Type::d(firstScale, secondScale), scales = hn::LoadU(Lane(), x.scales + done / 4);
  const IntLanes fours = foursOf(codes, x.digits + 3 * done),
                 taken = hn::LoadU(IntLane(), x.taken + done / 4);
  if constexpr (Type::kOffsets) {
    const Lanes offsets = hn::Mul(Type::m(firstScale, secondScale), hn::ConvertTo(Lane(), taken));
    return hn::MulAdd(hn::MulAdd(hn::ConvertTo(Lane(), fours), d, offsets), scales, sums);
  } else {
    return hn::MulAdd(hn::ConvertTo(Lane(), hn::Add(fours, taken)), hn::Mul(d, scales), sums);
  }
}

/// Computes y[o] = Σ w·x for some outputs with weights in blocks of 32 numbers.
template <class Type, size_t kOutputs>
HWY_INLINE void smallBlocks(NextBlocks<Type, kOutputs> next, const DigitRow& x, float* y) {
  constexpr size_t kBlocks = kWide / kGroup, kScale = Type::kApart ? 1 : Type::kBytes;
  constexpr Byte kNothing[Type::kBytes] = {};
  OutputSums<kOutputs> sums;
  for (size_t done = 0; done < x.in; done += kWide) {
    next.template fetchAhead<kBlocks * Type::kBytes>();
    for (size_t o = 0; o < kOutputs; ++o) {
      const Byte*& b = next.blocks[o];
      const Byte* const scale = Type::kApart ? next.scales[o] : b;
      // If the number of blocks is odd, the last one has no partner.
      const bool two = done + kWide <= x.in;
      sums.of[o] = addSmall<Type>(b, two ? b + (kBlocks - 1) * Type::kBytes : kNothing, scale,
                                  two ? scale + (kBlocks - 1) * kScale : kNothing, x, done, sums.of[o]);
      b += kBlocks * Type::kBytes;
      if constexpr (Type::kApart) next.scales[o] += kBlocks;
    }
  }
  for (size_t o = 0; o < kOutputs; ++o) y[o] = hn::GetLane(hn::SumOfLanes(Lane(), sums.of[o]));
}

template <class Type, size_t kOutputs>
HWY_INLINE void someOutputs(const WeightColumns& weight, size_t output, const DigitRow& x, float* y) {
  const NextBlocks<Type, kOutputs> next(weight, output);
  if constexpr (Type::kNumbers == 32)
    smallBlocks<Type, kOutputs>(next, x, y);
  else
    largeBlocks<Type, kOutputs>(next, x, y);
}

/// Computes y[o] = Σ weight[o]·x for `count` outputs.
template <class Type>
void outputsOf(const WeightColumns& weight, size_t count, const DigitRow& x, float* y) {
  size_t o = 0;
  for (; o + kManyOutputs <= count; o += kManyOutputs) someOutputs<Type, kManyOutputs>(weight, o, x, y + o);
  for (; o < count; ++o) someOutputs<Type, 1>(weight, o, x, y + o);
}

/// Calls `use` with the digits of the weight type.
template <typename Use>
HWY_INLINE void withDigits(WeightType type, const Use& use) {
  switch (type) {
#define HEADSCOPE_USE_DIGITS(type, Name, numbers, bytes) \
  case WeightType::type:                                 \
    return use(DigitsOf##Name());
    HEADSCOPE_BLOCK_TYPES(HEADSCOPE_USE_DIGITS)
#undef HEADSCOPE_USE_DIGITS
    case WeightType::mxfp4_apart:
      return use(DigitsOfMXFP4Apart());
    default:
      return;
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

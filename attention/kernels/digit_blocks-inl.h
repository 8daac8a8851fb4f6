// Weights in blocks times rows of whole numbers, compiled once for each target: no include guard but
// Highway's own.
#if defined(HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#endif

#include <cstdint>

#include "attention/kernels/digit_large-inl.h"
#include "attention/kernels/digit_small-inl.h"

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// The sums of some rows of input.
template <size_t kRows>
struct RowSums {
  Lanes of[kRows];
  HWY_INLINE RowSums() {
    for (Lanes& sums : of) sums = hn::Zero(Lane());
  }
};

/// The products of one block's vectors from v on, with numbers `done` and on of each row.
template <class Type, size_t kRows, size_t v = 0>
HWY_INLINE void addVectors(const Byte* b, const typename Type::Own (&factors)[kRows], const DigitRow* x,
                           size_t done, RowSums<kRows>& sums) {
  const CodeVector codes = Type::template codes<v>(b);
  for (size_t r = 0; r < kRows; ++r) {
    const std::int8_t* const digits = x[r].digits + 3 * done;
    const Lanes factor = Type::template factor<v>(factors[r]);
    const Lanes fours =
        Type::kOffsets ? floatFours(codes, digits) : floatFours(codes, digits, x[r].taken + done / 4);
    sums.of[r] = hn::MulAdd(fours, factor, sums.of[r]);
  }
  if constexpr ((v + 1) * kWide < 256) addVectors<Type, kRows, v + 1>(b, factors, x, done + kWide, sums);
}

/// y[r] = Σ w·x[r] of one output's weights in blocks of 256 numbers.
template <class Type, size_t kRows>
HWY_INLINE void largeBlocks(const Byte* b, const DigitRow* x, float* y) {
  constexpr size_t kScales = sizeof(typename Type::Own) / sizeof(float);
  RowSums<kRows> sums, offsets;
  for (size_t done = 0, scale = 0; done < x->in; done += 256, scale += kScales, b += Type::kBytes) {
    fetchAhead<Type::kBytes>(b);
    const auto own = Type::factors(b);
    typename Type::Own factors[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      factors[r] = own.times(x[r].scales + scale);
      if constexpr (Type::kOffsets)
        for (const Lanes& part : factors[r].parts) offsets.of[r] = hn::Add(offsets.of[r], part);
    }
    addVectors<Type, kRows>(b, factors, x, done, sums);
  }
  // Of the factors, four and four in turn, the second four are offsets.
  const auto fours = hn::And(hn::Iota(WholeLane(), 0), hn::Set(WholeLane(), 4));
  const auto second = hn::RebindMask(Lane(), hn::Ne(fours, hn::Zero(WholeLane())));
  for (size_t r = 0; r < kRows; ++r)
    y[r] =
        hn::GetLane(hn::SumOfLanes(Lane(), hn::Add(sums.of[r], hn::IfThenElseZero(second, offsets.of[r]))));
}

/// The products of the blocks of one vector, numbers `done` and on of each row.
template <class Type, size_t kRows>
HWY_INLINE void addSmall(const Byte* first, const Byte* second, const DigitRow* x, size_t done,
                         RowSums<kRows>& sums) {
  const CodeVector codes = Type::codes(first, second);
  const Lanes d = Type::d(first, second);
  for (size_t r = 0; r < kRows; ++r) {
    const std::int8_t* const digits = x[r].digits + 3 * done;
    const std::int32_t* const taken = x[r].taken + done / 4;
    const Lanes scales = hn::LoadU(Lane(), x[r].scales + done / 4);
    if constexpr (Type::kOffsets) {
      const Lanes inputs = hn::ConvertTo(Lane(), hn::LoadU(WholeLane(), taken));
      const Lanes offsets = hn::Mul(Type::m(first, second), inputs);
      sums.of[r] = hn::MulAdd(hn::MulAdd(floatFours(codes, digits), d, offsets), scales, sums.of[r]);
    } else {
      sums.of[r] = hn::MulAdd(floatFours(codes, digits, taken), hn::Mul(d, scales), sums.of[r]);
    }
  }
}

/// y[r] = Σ w·x[r] of one output's weights in blocks of 32 numbers.
template <class Type, size_t kRows>
HWY_INLINE void smallBlocks(const Byte* b, const DigitRow* x, float* y) {
  constexpr size_t kBlocks = kWide / kGroup;
  RowSums<kRows> sums;
  size_t done = 0;
  for (; done + kWide <= x->in; done += kWide, b += kBlocks * Type::kBytes) {
    fetchAhead<kBlocks * Type::kBytes>(b);
    addSmall<Type>(b, b + (kBlocks - 1) * Type::kBytes, x, done, sums);
  }
  constexpr Byte kNothing[Type::kBytes] = {};
  if (done < x->in) addSmall<Type>(b, kNothing, x, done, sums);
  for (size_t r = 0; r < kRows; ++r) y[r] = hn::GetLane(hn::SumOfLanes(Lane(), sums.of[r]));
}

/// y[r·yRow + o] = Σ weight[o]·x[r] for `count` outputs.
template <class Type, size_t kRows>
void outputsOfRows(const WeightColumns& weight, size_t count, const DigitRow* x, float* y, size_t yRow) {
  for (size_t o = 0; o < count; ++o) {
    float sums[kRows];
    if constexpr (Type::kNumbers == 32)
      smallBlocks<Type, kRows>(weight.output(o), x, sums);
    else
      largeBlocks<Type, kRows>(weight.output(o), x, sums);
    for (size_t r = 0; r < kRows; ++r) y[r * yRow + o] = sums[r];
  }
}

/// Calls use with the type's digits.
template <typename Use>
HWY_INLINE void withDigits(WeightType type, const Use& use) {
  switch (type) {
    case WeightType::q8_0:
      return use(DigitsOfQ8_0());
    case WeightType::q4_0:
      return use(DigitsOfQ4_0());
    case WeightType::q4_1:
      return use(DigitsOfQ4_1());
    case WeightType::q5_0:
      return use(DigitsOfQ5_0());
    case WeightType::q5_1:
      return use(DigitsOfQ5_1());
    case WeightType::q2_k:
      return use(DigitsOfQ2_K());
    case WeightType::q3_k:
      return use(DigitsOfQ3_K());
    case WeightType::q4_k:
      return use(DigitsOfQ4_K());
    case WeightType::q5_k:
      return use(DigitsOfQ5_K());
    case WeightType::q6_k:
      return use(DigitsOfQ6_K());
    case WeightType::iq4_nl:
      return use(DigitsOfIQ4_NL());
    case WeightType::iq4_xs:
      return use(DigitsOfIQ4_XS());
    case WeightType::mxfp4:
      return use(DigitsOfMXFP4());
    default:
      return;
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

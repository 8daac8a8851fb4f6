// Blocks of weights times whole numbers, compiled once for each target: no include guard but Highway's own.
#if defined(HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "attention/kernels/digit_row.h"
#include "attention/kernels/vector-inl.h"
#include "attention/kernels/weight_bytes-inl.h"
#include "hwy/cache_control.h"

// Where there are products of bytes: since AVX2, and with AVX-512 where it has VNNI.
#undef HEADSCOPE_DIGITS
#define HEADSCOPE_DIGITS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

using CodeLane = hn::ScalableTag<Byte>;
using CodeVector = hn::Vec<CodeLane>;
using WholeLane = hn::RebindToSigned<Lane>;
using Wholes = hn::Vec<WholeLane>;

inline constexpr size_t kWide = hn::MaxLanes(CodeLane()), kLanes = kWide / 4, kGroup = 32;

/// Which group of 32 numbers of a block is the vector's first or second.
constexpr size_t groupOf(bool paired, size_t vector, size_t half) {
  if (kWide == kGroup) return vector;
  return paired ? vector / 2 * 4 + vector % 2 + 2 * half : 2 * vector + half;
}

/// sums + (Σ of four code·digit).
HWY_INLINE Wholes addFours(Wholes sums, CodeVector codes, const std::int8_t* digits) {
#if HWY_TARGET == HWY_AVX3
  // Highway has no name for VNNI's instruction, nor its target the right to the intrinsic.
  asm("vpdpbusd %2, %1, %0"
      : "+v"(sums.raw)
      : "v"(codes.raw), "m"(*reinterpret_cast<const __m512i*>(digits)));
  return sums;
#else
  // CodeVector of at most seven bits: two products fit 16.
  const __m256i pairs =
      _mm256_maddubs_epi16(codes.raw, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(digits)));
  return hn::Add(sums, Wholes{_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))});
#endif
}

/// Σ code·D of each four numbers, modulo 2³².
HWY_INLINE Wholes foursOf(CodeVector codes, const std::int8_t* digits) {
  Wholes sums = addFours(hn::Zero(WholeLane()), codes, digits);
  sums = addFours(hn::ShiftLeft<8>(sums), codes, digits + kWide);
  return addFours(hn::ShiftLeft<8>(sums), codes, digits + 2 * kWide);
}

HWY_INLINE Lanes floatFours(CodeVector codes, const std::int8_t* digits) {
  return hn::ConvertTo(Lane(), foursOf(codes, digits));
}
HWY_INLINE Lanes floatFours(CodeVector codes, const std::int8_t* digits, const std::int32_t* taken) {
  return hn::ConvertTo(Lane(), hn::Add(foursOf(codes, digits), hn::LoadU(WholeLane(), taken)));
}

/// Weights come from memory once: what is read a while later is fetched.
template <size_t kBytes>
HWY_INLINE void fetchAhead(const Byte* b) {
  constexpr size_t kAhead = 1024;
  for (size_t i = 0; i < kBytes; i += 64) hwy::Prefetch(b + kAhead + i);
}

HWY_INLINE CodeVector both(const Byte* b) {
#if HWY_TARGET == HWY_AVX3
  return CodeVector{_mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)))};
#else
  return hn::LoadU(CodeLane(), b);
#endif
}
/// One value in the lanes of the first 32 bytes, another in those of the second.
template <class D, typename T>
HWY_INLINE hn::Vec<D> halves(D d, T first, T second) {
  if constexpr (kWide == kGroup) {
    return hn::Set(d, first);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, hn::Set(half, second), hn::Set(half, first));
  }
}

/// Bytes moved by bits, of which those that come from a neighbour must be masked.
using Pairs = hn::Repartition<std::uint16_t, CodeLane>;
using Fours = hn::Repartition<std::uint32_t, CodeLane>;

template <bool kHigh>
HWY_INLINE CodeVector nibblesOf(CodeVector bytes) {
  if constexpr (kHigh) bytes = hn::BitCast(CodeLane(), hn::ShiftRight<4>(hn::BitCast(Pairs(), bytes)));
  return hn::And(bytes, hn::Set(CodeLane(), Byte{15}));
}

/// 16 factors of a block of 256 numbers.
struct Factors {
  Lanes parts[16 / kLanes];
};

/// Halves d and m of a block, each for four lanes in turn, as floats.
HWY_INLINE Lanes alternating(const Byte* b) {
  const hn::Rebind<hwy::float16_t, Lane> half;
  const hn::Repartition<std::uint32_t, decltype(half)> pairs;
  const hn::Repartition<Byte, decltype(half)> bytes;
  HWY_ALIGN static constexpr Byte kOrder[16] = {0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3};
  std::uint32_t both;
  std::memcpy(&both, b, sizeof both);
  const auto turns = hn::LoadDup128(bytes, kOrder);
  return hn::PromoteTo(
      Lane(), hn::BitCast(half, hn::TableLookupBytes(hn::BitCast(bytes, hn::Set(pairs, both)), turns)));
}
HWY_INLINE Lanes halfEverywhere(const Byte* b) {
  const hn::Rebind<std::uint16_t, Lane> d;
  std::uint16_t half;
  std::memcpy(&half, b, sizeof half);
  return hn::PromoteTo(Lane(), hn::BitCast(hn::Rebind<hwy::float16_t, Lane>(), hn::Set(d, half)));
}

/// The scales of 8 groups as readQ4_K has them, times d, m and x: four of d, four of m, four of d, four of m.
HWY_INLINE Factors groupFactors(const Byte* b, const float* x) {
  const hn::FixedTag<Byte, 16> d;
  const hn::Repartition<std::uint32_t, decltype(d)> fours;
  const hn::Repartition<std::uint16_t, decltype(d)> pairs;
  HWY_ALIGN static constexpr Byte kLow[16] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15};
  HWY_ALIGN static constexpr Byte kLowBits[16] = {63, 63, 63, 63, 63, 63, 63, 63,
                                                  15, 15, 15, 15, 15, 15, 15, 15};
  HWY_ALIGN static constexpr Byte kHigh[16] = {128, 128, 128, 128, 128, 128, 128, 128,
                                               4,   5,   6,   7,   8,   9,   10,  11};
  HWY_ALIGN static constexpr std::uint32_t kShift[4] = {0, 0, 0, 4};
  const auto head = hn::LoadU(d, b);
  const auto moved =
      hn::Shr(hn::BitCast(fours, hn::TableLookupBytes(head, hn::Load(d, kLow))), hn::Load(fours, kShift));
  const auto low = hn::And(hn::BitCast(d, moved), hn::Load(d, kLowBits));
  const auto top = hn::ShiftRight<2>(hn::BitCast(pairs, hn::TableLookupBytesOr0(head, hn::Load(d, kHigh))));
  const auto all = hn::Or(low, hn::And(hn::BitCast(d, top), hn::Set(d, Byte{0x30})));
  const Lanes dm = alternating(b);
  Factors factors;
#if HWY_TARGET == HWY_AVX3
  factors.parts[0] = hn::ConvertTo(Lane(), hn::PromoteTo(WholeLane(), all));
#else
  const hn::Half<decltype(d)> eight;
  factors.parts[0] = hn::ConvertTo(Lane(), hn::PromoteTo(WholeLane(), hn::LowerHalf(eight, all)));
  factors.parts[1] = hn::ConvertTo(Lane(), hn::PromoteTo(WholeLane(), hn::UpperHalf(eight, all)));
#endif
  for (size_t i = 0; i < 16 / kLanes; ++i)
    factors.parts[i] = hn::Mul(hn::Mul(factors.parts[i], dm), hn::LoadU(Lane(), x + i * kLanes));
  return factors;
}

/// Lanes of a vector of factors: `first` for the first `each` of them, then first + step and so on.
template <size_t kFirst, size_t kEach, size_t kStep>
HWY_INLINE Lanes spread(const Factors& factors) {
  HWY_ALIGN std::int32_t from[kLanes];
  for (size_t i = 0; i < kLanes; ++i)
    from[i] = static_cast<std::int32_t>((kFirst + i / kEach * kStep) % kLanes);
  return hn::TableLookupLanes(factors.parts[kFirst / kLanes],
                              hn::IndicesFromVec(Lane(), hn::Load(WholeLane(), from)));
}

struct DigitsOfQ4_K {
  static constexpr size_t kBytes = 144;
  static constexpr bool kOffsets = true;
  static HWY_INLINE Factors factors(const Byte* b, const float* x) { return groupFactors(b, x); }
  template <size_t v>
  static HWY_INLINE Lanes factor(const Factors& factors) {
    constexpr size_t kFrom = groupOf(true, v, 0);
    return spread<kFrom % 4 + kFrom / 4 * 8, 8, 2>(factors);
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    return nibblesOf<v % 2 == 1>(hn::LoadU(CodeLane(), b + 16 + kWide * (v / 2)));
  }
};

struct DigitsOfQ5_K : DigitsOfQ4_K {
  static constexpr size_t kBytes = 176;
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    // Bit g of 32 bytes is group g's: where it is among the upper four, it makes a byte at least 16.
    constexpr size_t kFrom = groupOf(true, v, 0), kTo = groupOf(true, v, 1);
    const CodeLane d;
    CodeVector high = both(b + 16);
    if constexpr (kFrom < 4) high = hn::BitCast(d, hn::ShiftLeft<4>(hn::BitCast(Pairs(), high)));
    high = hn::And(high, halves(d, static_cast<Byte>(16 << kFrom % 4), static_cast<Byte>(16 << kTo % 4)));
    const CodeVector low = nibblesOf<v % 2 == 1>(hn::LoadU(d, b + 48 + kWide * (v / 2)));
    return hn::Or(low, hn::Min(high, hn::Set(d, Byte{16})));
  }
};

struct DigitsOfQ6_K {
  static constexpr size_t kBytes = 210;
  static constexpr bool kOffsets = false;
  static HWY_INLINE Factors factors(const Byte* b, const float* x) {
    const hn::Rebind<std::int8_t, Lane> narrow;
    const Lanes d = halfEverywhere(b + 208);
    Factors factors;
    for (size_t i = 0; i < 16 / kLanes; ++i) {
      const auto scales = hn::LoadU(narrow, reinterpret_cast<const std::int8_t*>(b + 192) + i * kLanes);
      const Lanes own = hn::ConvertTo(Lane(), hn::PromoteTo(WholeLane(), scales));
      factors.parts[i] = hn::Mul(hn::Mul(own, d), hn::LoadU(Lane(), x + i * kLanes));
    }
    return factors;
  }
  template <size_t v>
  static HWY_INLINE Lanes factor(const Factors& factors) {
    return spread<v * kWide / 16, 4, 1>(factors);
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    constexpr size_t kFrom = groupOf(false, v, 0), kTo = groupOf(false, v, 1);
    constexpr size_t kPart = kFrom / 4, kQuarter = kFrom % 4, kNext = kTo % 4;
    const CodeLane d;
    const Fours fours;
    const auto packed = hn::BitCast(fours, both(b + 128 + 32 * kPart));
    // Two bits of each byte, to bits 4 and 5.
    decltype(hn::Zero(fours)) high;
    if constexpr (kQuarter < 2)
      high = hn::Shl(packed, halves(fours, std::uint32_t{4 - 2 * kQuarter}, std::uint32_t{4 - 2 * kNext}));
    else
      high = hn::Shr(packed, halves(fours, std::uint32_t{2 * kQuarter - 4}, std::uint32_t{2 * kNext - 4}));
    const CodeVector low = nibblesOf<kQuarter / 2 == 1>(hn::LoadU(d, b + 64 * kPart + kQuarter % 2 * kGroup));
    return hn::Or(low, hn::And(hn::BitCast(d, high), hn::Set(d, Byte{0x30})));
  }
};

/// The products of one block's vectors from v on, added to sums in turn.
template <class Type, size_t v = 0>
HWY_INLINE void addVectors(const Byte* b, const Factors& factors, const std::int8_t* digits,
                           const std::int32_t* taken, Lanes& sums, Lanes& others) {
  const CodeVector codes = Type::template codes<v>(b);
  const Lanes factor = Type::template factor<v>(factors);
  if constexpr (Type::kOffsets)
    sums = hn::MulAdd(floatFours(codes, digits + 3 * kWide * v), factor, sums);
  else
    sums = hn::MulAdd(floatFours(codes, digits + 3 * kWide * v, taken + kLanes * v), factor, sums);
  if constexpr ((v + 1) * kWide < 256) addVectors<Type, v + 1>(b, factors, digits, taken, others, sums);
}

/// Σ w·x of a row in blocks of 256 numbers.
template <class Type>
float largeBlocks(const Byte* b, const DigitRow& x) {
  Lanes even = hn::Zero(Lane()), odd = even, offsets = even;
  const std::int8_t* digits = x.digits;
  const std::int32_t* taken = x.taken;
  const float* scales = x.scales;
  for (size_t done = 0; done < x.in; done += 256) {
    fetchAhead<Type::kBytes>(b);
    const Factors factors = Type::factors(b, scales);
    if constexpr (Type::kOffsets)
      for (const Lanes& part : factors.parts) offsets = hn::Add(offsets, part);
    addVectors<Type>(b, factors, digits, taken, even, odd);
    b += Type::kBytes, digits += 3 * 256, taken += 256 / 4, scales += 16;
  }
  // Of the factors, four and four in turn, the second four are offsets.
  const auto fours = hn::And(hn::Iota(WholeLane(), 0), hn::Set(WholeLane(), 4));
  offsets = hn::IfThenElseZero(hn::RebindMask(Lane(), hn::Ne(fours, hn::Zero(WholeLane()))), offsets);
  return hn::GetLane(hn::SumOfLanes(Lane(), hn::Add(hn::Add(even, odd), offsets)));
}

struct DigitsOfQ8_0 {
  static constexpr size_t kBytes = 34;
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    const CodeLane d;
    CodeVector bytes;
    if constexpr (kWide == kGroup)
      bytes = hn::LoadU(d, b + 2);
    else
      bytes =
          hn::Combine(d, hn::LoadU(hn::Half<CodeLane>(), second + 2), hn::LoadU(hn::Half<CodeLane>(), b + 2));
    return hn::Xor(bytes, hn::Set(d, Byte{128}));
  }
};

/// Low nibbles, then high ones, of 16 bytes of a block.
HWY_INLINE CodeVector blockNibbles(const Byte* b, const Byte* second) {
  const CodeLane d;
  HWY_ALIGN static constexpr std::uint32_t kShift[16] = {0, 0, 0, 0, 4, 4, 4, 4, 0, 0, 0, 0, 4, 4, 4, 4};
  CodeVector bytes;
  if constexpr (kWide == kGroup)
    bytes = hn::LoadDup128(d, b);
  else
    bytes =
        hn::Combine(d, hn::LoadDup128(hn::Half<CodeLane>(), second), hn::LoadDup128(hn::Half<CodeLane>(), b));
  const auto moved = hn::Shr(hn::BitCast(Fours(), bytes), hn::Load(Fours(), kShift));
  return hn::And(hn::BitCast(d, moved), hn::Set(d, Byte{15}));
}

struct DigitsOfQ4_0 {
  static constexpr size_t kBytes = 18;
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    return blockNibbles(b + 2, second + 2);
  }
};

/// Σ w·x of a row in blocks of 32 numbers that begin with d.
template <class Type>
float smallBlocks(const Byte* b, const DigitRow& x) {
  constexpr size_t kBlocks = kWide / kGroup;
  const hn::Rebind<std::uint16_t, Lane> narrow;
  Lanes even = hn::Zero(Lane()), odd = even;
  const std::int8_t* digits = x.digits;
  const std::int32_t* taken = x.taken;
  const float* scales = x.scales;
  const auto step = [&](const Byte* first, const Byte* second) HWY_ATTR {
    std::uint16_t own[2];
    std::memcpy(own, first, sizeof *own);
    std::memcpy(own + 1, second, sizeof *own);
    const auto d = hn::BitCast(hn::Rebind<hwy::float16_t, Lane>(), halves(narrow, own[0], own[1]));
    const Lanes factor = hn::Mul(hn::PromoteTo(Lane(), d), hn::LoadU(Lane(), scales));
    even = hn::MulAdd(floatFours(Type::codes(first, second), digits, taken), factor, even);
    std::swap(even, odd);
    digits += 3 * kWide, taken += kLanes, scales += kLanes;
  };
  size_t blocks = x.in / kGroup;
  for (; blocks >= kBlocks; blocks -= kBlocks, b += kBlocks * Type::kBytes) {
    fetchAhead<kBlocks * Type::kBytes>(b);
    step(b, b + (kBlocks - 1) * Type::kBytes);
  }
  constexpr Byte kNothing[Type::kBytes] = {};
  if (blocks > 0) step(b, kNothing);
  return hn::GetLane(hn::SumOfLanes(Lane(), hn::Add(even, odd)));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

// Blocks of 256 weights times whole numbers. Compiled once for each target, so the only include guard is
// Highway's.
#if defined(HEADSCOPE_KERNELS_DIGIT_LARGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_LARGE_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_LARGE_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_LARGE_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "attention/kernels/digit_vectors-inl.h"
#include "attention/kernels/weight_blocks-inl.h"

// Each type defines the bytes of a block, the factors of its groups (d and m times their integer scales), and
// its codes, one vector at a time. For the block formats see the read… functions of weight_blocks-inl.h.

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Returns which group of 32 numbers in a block is the vector's first or second.
constexpr size_t groupOf(size_t vector, size_t half) {
  return kWide == kGroup ? vector : 2 * vector + half;
}

/// The factors of a block's groups, in the order of DigitRow::scales.
template <size_t kCount>
struct Factors {
  Lanes parts[kCount / kLanes];

  HWY_INLINE Factors times(const float* x) const {
    Factors product;
    for (size_t i = 0; i < kCount / kLanes; ++i)
      product.parts[i] = hn::Mul(parts[i], hn::LoadU(Lane(), x + i * kLanes));
    return product;
  }
};

/// Writes 16 integers times `by` to parts[0] and following.
template <class V>
HWY_INLINE void storeFactors(V whole, Lanes by, Lanes* parts) {
  const hn::DFromV<V> d;
  const auto product = [&](auto some) HWY_ATTR {
    return hn::Mul(hn::ConvertTo(Lane(), hn::PromoteTo(IntLane(), some)), by);
  };
#if HWY_TARGET == HWY_AVX3
  (void)d;
  parts[0] = product(whole);
#else
  const hn::Half<decltype(d)> eight;
  parts[0] = product(hn::LowerHalf(eight, whole));
  parts[1] = product(hn::UpperHalf(eight, whole));
#endif
}

/// Returns the halves d and m of a block as floats, alternating every four lanes.
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

/// Spreads factors over lanes: factor kFirst for the first kEach lanes, then kFirst + kStep, and so on.
template <size_t kFirst, size_t kEach, size_t kStep, size_t kCount>
HWY_INLINE Lanes spread(const Factors<kCount>& factors) {
  HWY_ALIGN std::int32_t from[kLanes];
  for (size_t i = 0; i < kLanes; ++i)
    from[i] = static_cast<std::int32_t>((kFirst + i / kEach * kStep) % kLanes);
  return hn::TableLookupLanes(factors.parts[kFirst / kLanes],
                              hn::IndicesFromVec(Lane(), hn::Load(IntLane(), from)));
}

/// Shared by large types whose vectors hold whole groups of 32 in order and that have a factor per 16
/// numbers.
struct DigitsOf16 {
  static constexpr size_t kNumbers = 256, kScales = 16, kTogether = 1;
  static constexpr bool kOffsets = false;
  using Own = Factors<16>;
  template <size_t v>
  static HWY_INLINE Lanes factor(const Own& factors) {
    return spread<v * kWide / 16, 4, 1>(factors);
  }

 protected:
  /// Moves bits of two groups that share 32 bytes, from bits kFirst and kNext respectively, to bit kTo.
  template <size_t kFirst, size_t kNext, size_t kTo>
  static HWY_INLINE CodeVector movedBits(const Byte* b, Byte mask) {
    const Fours fours;
    const auto packed = hn::BitCast(fours, both(b));
    decltype(hn::Zero(fours)) moved;
    if constexpr (kFirst <= kTo && kNext <= kTo)
      moved = hn::Shl(packed, halves(fours, std::uint32_t{kTo - kFirst}, std::uint32_t{kTo - kNext}));
    else
      moved = hn::Shr(packed, halves(fours, std::uint32_t{kFirst - kTo}, std::uint32_t{kNext - kTo}));
    return hn::And(hn::BitCast(CodeLane(), moved), hn::Set(CodeLane(), mask));
  }
  /// Returns two bits of each number of the vector's groups, from 64 packed bytes, at bit kTo.
  template <size_t v, size_t kTo>
  static HWY_INLINE CodeVector twoBits(const Byte* b) {
    constexpr size_t kFrom = groupOf(v, 0), kNext = groupOf(v, 1);
    return movedBits<kFrom % 4 * 2, kNext % 4 * 2, kTo>(b + kFrom / 4 * 32, Byte{3 << kTo});
  }
};

struct DigitsOfQ2_K : DigitsOf16 {
  static constexpr size_t kBytes = 84, kScales = 32;
  static constexpr bool kOffsets = true;
  using Own = Factors<32>;
  /// Factors of d and m alternate, four of each.
  static HWY_INLINE Own factors(const Byte* b) {
    const hn::FixedTag<Byte, 16> d;
    const hn::Repartition<std::uint32_t, decltype(d)> fours;
    HWY_ALIGN static constexpr Byte kOrder[16] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7};
    HWY_ALIGN static constexpr std::uint32_t kShift[4] = {0, 4, 0, 4};
    const auto scales = hn::LoadU(d, b);
    const Lanes dm = alternating(b + 80);
    Own factors;
    for (size_t half = 0; half < 2; ++half) {
      const auto order = hn::Add(hn::Load(d, kOrder), hn::Set(d, static_cast<Byte>(8 * half)));
      const auto moved =
          hn::Shr(hn::BitCast(fours, hn::TableLookupBytes(scales, order)), hn::Load(fours, kShift));
      storeFactors(hn::And(hn::BitCast(d, moved), hn::Set(d, Byte{15})), dm,
                   factors.parts + half * 16 / kLanes);
    }
    return factors;
  }
  template <size_t v>
  static HWY_INLINE Lanes factor(const Own& factors) {
    constexpr size_t kFrom = v * kWide / 16;
    return spread<kFrom / 4 * 8 + kFrom % 4, 4, 1>(factors);
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    return twoBits<v, 0>(b + 16);
  }
};

struct DigitsOfQ3_K : DigitsOf16 {
  static constexpr size_t kBytes = 110;
  static HWY_INLINE Own factors(const Byte* b) {
    const hn::FixedTag<Byte, 16> d;
    const hn::Repartition<std::uint32_t, decltype(d)> fours;
    // The first two of the block's last 16 bytes are codes.
    HWY_ALIGN static constexpr Byte kLow[16] = {2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 6, 7, 8, 9};
    HWY_ALIGN static constexpr Byte kTop[16] = {10, 11, 12, 13, 10, 11, 12, 13,
                                                10, 11, 12, 13, 10, 11, 12, 13};
    HWY_ALIGN static constexpr std::uint32_t kLowShift[4] = {0, 0, 4, 4}, kTopShift[4] = {0, 2, 4, 6};
    const auto bytes = hn::LoadU(d, b + 94);
    const auto moved = [&](const Byte* order, const std::uint32_t* shift, Byte mask) HWY_ATTR {
      const auto ordered = hn::BitCast(fours, hn::TableLookupBytes(bytes, hn::Load(d, order)));
      return hn::And(hn::BitCast(d, hn::Shr(ordered, hn::Load(fours, shift))), hn::Set(d, mask));
    };
    const auto top = hn::ShiftLeft<4>(hn::BitCast(fours, moved(kTop, kTopShift, 3)));
    const auto scales =
        hn::Sub(hn::Or(moved(kLow, kLowShift, 15), hn::BitCast(d, top)), hn::Set(d, Byte{32}));
    Own factors;
    storeFactors(hn::BitCast(hn::FixedTag<std::int8_t, 16>(), scales), halfEverywhere(b + 108),
                 factors.parts);
    return factors;
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    return hn::Or(twoBits<v, 0>(b + 32), movedBits<groupOf(v, 0), groupOf(v, 1), 2>(b, 4));
  }
};

/// Wide vectors hold numbers of four groups (DigitForm::quartered), two vectors the same groups. Their
/// products, at most 8·15·2²³ for Q4_K and 8·31·2²³ for Q5_K, are added up before conversion to float.
struct DigitsOfQ4_K {
  static constexpr size_t kNumbers = 256, kScales = 16, kBytes = 144, kTogether = kWide / kGroup;
  static constexpr bool kOffsets = true;
  using Own = Factors<16>;
  /// Returns the scales of 8 groups (see readQ4_K) times d and m, alternating four of d and four of m.
  static HWY_INLINE Own factors(const Byte* b) {
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
    Own factors;
    storeFactors(hn::Or(low, hn::And(hn::BitCast(d, top), hn::Set(d, Byte{0x30}))), alternating(b),
                 factors.parts);
    return factors;
  }
  template <size_t v>
  static HWY_INLINE Lanes factor(const Own& factors) {
    if constexpr (kWide == kGroup)
      return spread<v % 4 + v / 4 * 8, 8, 0>(factors);
    else
      return oddOrEven<v / 2>(factors);
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    return lowCodes<v>(b + 16);
  }

 protected:
  template <size_t v>
  static HWY_INLINE CodeVector lowCodes(const Byte* b) {
    const CodeLane d;
#if HWY_TARGET == HWY_AVX3
    constexpr int kQuarters = v % 2 == 0 ? 0x88 : 0xDD;
    return nibblesOf<v / 2 == 1>(
        CodeVector{_mm512_shuffle_i32x4(hn::LoadU(d, b).raw, hn::LoadU(d, b + kWide).raw, kQuarters)});
#else
    return nibblesOf<v % 2 == 1>(hn::LoadU(d, b + kWide * (v / 2)));
#endif
  }

 private:
  /// Returns the factors of the even or odd groups among groups 0–3 and 4–7, each for four lanes.
  template <size_t kOdd>
  static HWY_INLINE Lanes oddOrEven(const Own& factors) {
    HWY_ALIGN std::int32_t from[kLanes];
    for (size_t i = 0; i < kLanes; ++i) from[i] = static_cast<std::int32_t>(i / 8 * 8 + i / 4 % 2 * 2 + kOdd);
    return hn::TableLookupLanes(factors.parts[0], hn::IndicesFromVec(Lane(), hn::Load(IntLane(), from)));
  }
};

struct DigitsOfQ5_K : DigitsOfQ4_K {
  static constexpr size_t kBytes = 176;
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    // Bit g of each of the 32 bytes belongs to group g.
    const CodeLane d;
#if HWY_TARGET == HWY_AVX3
    constexpr size_t kOdd = v / 2;
    const CodeVector bits = hn::LoadDup128(d, b + 16 + v % 2 * 16);
    constexpr int kFirst = 1 << kOdd;
    const hn::Vec<Fours> own{_mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_set_m128i(_mm_set1_epi8(kFirst << 2), _mm_set1_epi8(kFirst))),
        _mm256_set_m128i(_mm_set1_epi8(static_cast<char>(kFirst << 6)), _mm_set1_epi8(kFirst << 4)), 1)};
    const auto high = hn::TestBit(bits, hn::BitCast(d, own));
#else
    const auto high = hn::TestBit(hn::LoadU(d, b + 16), hn::Set(d, Byte{1 << v}));
#endif
    return hn::Or(lowCodes<v>(b + 48), hn::IfThenElseZero(high, hn::Set(d, Byte{16})));
  }
};

struct DigitsOfQ6_K : DigitsOf16 {
  static constexpr size_t kBytes = 210;
  static HWY_INLINE Own factors(const Byte* b) {
    Own factors;
    storeFactors(hn::LoadU(hn::FixedTag<std::int8_t, 16>(), reinterpret_cast<const std::int8_t*>(b + 192)),
                 halfEverywhere(b + 208), factors.parts);
    return factors;
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    constexpr size_t kFrom = groupOf(v, 0), kPart = kFrom / 4, kQuarter = kFrom % 4;
    const Byte* const low = b + 64 * kPart + kQuarter % 2 * kGroup;
    return hn::Or(nibblesOf<kQuarter / 2 == 1>(hn::LoadU(CodeLane(), low)), twoBits<v, 4>(b + 128));
  }
};

struct DigitsOfIQ4_XS : DigitsOf16 {
  static constexpr size_t kBytes = 136;
  static HWY_INLINE Own factors(const Byte* b) {
    const hn::FixedTag<Byte, 16> d;
    const hn::Repartition<std::uint16_t, decltype(d)> pairs;
    // Repeats the scale of each of the 8 groups of 32 numbers.
    HWY_ALIGN static constexpr Byte kLow[16] = {4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7};
    HWY_ALIGN static constexpr Byte kEven[16] = {15, 15, 0, 0, 15, 15, 0, 0, 15, 15, 0, 0, 15, 15, 0, 0};
    HWY_ALIGN static constexpr Byte kTop[16] = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
    HWY_ALIGN static constexpr Byte kBit[16] = {1, 1, 4, 4, 16, 16, 64, 64, 1, 1, 4, 4, 16, 16, 64, 64};
    const auto head = hn::LoadU(d, b), bit = hn::Load(d, kBit), even = hn::Load(d, kEven);
    const auto low = hn::TableLookupBytes(head, hn::Load(d, kLow));
    const auto high =
        hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(pairs, low))), hn::Set(d, Byte{15}));
    const auto top = hn::TableLookupBytes(head, hn::Load(d, kTop));
    const auto scales = hn::Or(hn::Or(hn::And(low, even), hn::AndNot(even, high)),
                               hn::Or(where(top, bit, 16), where(top, hn::Add(bit, bit), 32)));
    Own factors;
    storeFactors(hn::BitCast(hn::FixedTag<std::int8_t, 16>(), hn::Sub(scales, hn::Set(d, Byte{32}))),
                 halfEverywhere(b), factors.parts);
    return factors;
  }
  template <size_t v>
  static HWY_INLINE CodeVector codes(const Byte* b) {
    const Byte* const packed = b + 8 + kWide / 2 * v;
    return lookedUpCodes(kUneven, blockNibbles(packed, packed + 16));
  }
};

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

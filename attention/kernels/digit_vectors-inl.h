// Vectors of codes times digits. Compiled once for each target, so the only include guard is Highway's.
#if defined(HEADSCOPE_KERNELS_DIGIT_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_VECTORS_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_VECTORS_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_VECTORS_INL_H_
#endif

#include <cstdint>

#include "attention/kernels/digit_row.h"
#include "attention/kernels/vector-inl.h"
#include "attention/kernels/weight_bytes-inl.h"

// Targets with byte products: AVX2, and AVX-512 if it has VNNI.
#undef HEADSCOPE_DIGITS
#define HEADSCOPE_DIGITS (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

using CodeLane = hn::ScalableTag<Byte>;
using CodeVector = hn::Vec<CodeLane>;
using IntLane = hn::RebindToSigned<Lane>;
using IntLanes = hn::Vec<IntLane>;

inline constexpr size_t kWide = hn::MaxLanes(CodeLane()), kLanes = kWide / 4, kGroup = 32;

using DigitVector = hn::Vec<hn::RebindToSigned<CodeLane>>;

/// Returns sums + Σ code·digit over each four bytes.
HWY_INLINE IntLanes addFours(IntLanes sums, CodeVector codes, DigitVector digits) {
#if HWY_TARGET == HWY_AVX3
  // Highway doesn't expose VNNI's instruction, and its target doesn't allow the intrinsic.
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(codes.raw), "v"(digits.raw));
  return sums;
#else
  // Codes have at most seven bits, so two products fit 16 bits.
  const __m256i pairs = _mm256_maddubs_epi16(codes.raw, digits.raw);
  return hn::Add(sums, IntLanes{_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))});
#endif
}

/// Returns Σ code·D over each four numbers of all vectors together, modulo 2³².
template <size_t kVectors>
HWY_INLINE IntLanes foursOf(const CodeVector (&codes)[kVectors], const std::int8_t* digits) {
  IntLanes sums = hn::Zero(IntLane());
  for (size_t k = 0; k < 3; ++k) {
    if (k > 0) sums = hn::ShiftLeft<8>(sums);
    for (size_t v = 0; v < kVectors; ++v)
      sums =
          addFours(sums, codes[v], hn::LoadU(hn::RebindToSigned<CodeLane>(), digits + (3 * v + k) * kWide));
  }
  return sums;
}

HWY_INLINE CodeVector both(const Byte* b) {
#if HWY_TARGET == HWY_AVX3
  return CodeVector{_mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)))};
#else
  return hn::LoadU(CodeLane(), b);
#endif
}
/// Sets the lanes of the first 32 bytes to one value and those of the second to another.
template <class D, typename T>
HWY_INLINE hn::Vec<D> halves(D d, T first, T second) {
  if constexpr (kWide == kGroup) {
    return hn::Set(d, first);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, hn::Set(half, second), hn::Set(half, first));
  }
}

/// For shifting bytes by bits; bits from a neighbour must be masked.
using Pairs = hn::Repartition<std::uint16_t, CodeLane>;
using Fours = hn::Repartition<std::uint32_t, CodeLane>;

template <bool kHigh>
HWY_INLINE CodeVector nibblesOf(CodeVector bytes) {
  if constexpr (kHigh) bytes = hn::BitCast(CodeLane(), hn::ShiftRight<4>(hn::BitCast(Pairs(), bytes)));
  return hn::And(bytes, hn::Set(CodeLane(), Byte{15}));
}

/// Returns the low nibbles, then the high nibbles, of 16 bytes of each block.
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

/// Looks up the numbers q that nibbles stand for and returns the codes q + 128.
HWY_INLINE CodeVector lookedUpCodes(const std::int8_t (&table)[16], CodeVector nibbles) {
  const CodeLane d;
  const auto numbers = hn::LoadDup128(d, reinterpret_cast<const Byte*>(table));
  return hn::Xor(hn::TableLookupBytes(numbers, nibbles), hn::Set(d, Byte{128}));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

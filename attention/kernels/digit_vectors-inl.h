// Vectors of codes times digits, compiled once for each target: no include guard but Highway's own.
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

/// A vector of digits.
using DigitVector = hn::Vec<hn::RebindToSigned<CodeLane>>;

/// sums + (Σ of four code·digit).
HWY_INLINE Wholes addFours(Wholes sums, CodeVector codes, DigitVector digits) {
#if HWY_TARGET == HWY_AVX3
  // Highway has no name for VNNI's instruction, nor its target the right to the intrinsic.
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(codes.raw), "v"(digits.raw));
  return sums;
#else
  // Codes of at most seven bits: two products fit 16.
  const __m256i pairs = _mm256_maddubs_epi16(codes.raw, digits.raw);
  return hn::Add(sums, Wholes{_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))});
#endif
}

/// Σ code·D of each four numbers of all the vectors together, modulo 2³².
template <size_t kVectors>
HWY_INLINE Wholes foursOf(const CodeVector (&codes)[kVectors], const std::int8_t* digits) {
  Wholes sums = hn::Zero(WholeLane());
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

/// The codes q + 128 of numbers that four bits stand for.
HWY_INLINE CodeVector lookedUpCodes(const std::int8_t (&table)[16], CodeVector nibbles) {
  const CodeLane d;
  const auto numbers = hn::LoadDup128(d, reinterpret_cast<const Byte*>(table));
  return hn::Xor(hn::TableLookupBytes(numbers, nibbles), hn::Set(d, Byte{128}));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

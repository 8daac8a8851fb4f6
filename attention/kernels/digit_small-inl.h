// Blocks of 32 weights times whole numbers. Compiled once for each target, so the only include guard is
// Highway's.
#if defined(HEADSCOPE_KERNELS_DIGIT_SMALL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_DIGIT_SMALL_INL_H_
#undef HEADSCOPE_KERNELS_DIGIT_SMALL_INL_H_
#else
#define HEADSCOPE_KERNELS_DIGIT_SMALL_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "attention/kernels/digit_vectors-inl.h"
#include "attention/kernels/weight_blocks-inl.h"

// Each type defines the bytes of a block, the codes of the one or two blocks in a vector, and their d (and
// m), with kApart read from separate scales. For the block formats see the read… functions of
// weight_blocks-inl.h.

#if HEADSCOPE_DIGITS
HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Returns the halves at the start of two blocks, each in its block's lanes.
HWY_INLINE Lanes halvesOf(const Byte* first, const Byte* second) {
  std::uint16_t own[2];
  std::memcpy(own, first, sizeof *own);
  std::memcpy(own + 1, second, sizeof *own);
  const hn::Rebind<std::uint16_t, Lane> narrow;
  return hn::PromoteTo(Lane(),
                       hn::BitCast(hn::Rebind<hwy::float16_t, Lane>(), halves(narrow, own[0], own[1])));
}

/// A small type that begins with d (and m if it has offsets), with nibbles starting at a given byte.
template <size_t kSize, size_t kNibbles, bool kM>
struct DigitsOfNibbles {
  static constexpr size_t kNumbers = 32, kBytes = kSize;
  static constexpr bool kOffsets = kM, kApart = false;
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    return blockNibbles(b + kNibbles, second + kNibbles);
  }
  static HWY_INLINE Lanes d(const Byte* b, const Byte* second) { return halvesOf(b, second); }
  static HWY_INLINE Lanes m(const Byte* b, const Byte* second) { return halvesOf(b + 2, second + 2); }
};
using DigitsOfQ4_0 = DigitsOfNibbles<18, 2, false>;
using DigitsOfQ4_1 = DigitsOfNibbles<20, 4, true>;

/// The fifth bits of a block's numbers are in the four bytes before its nibbles.
template <size_t kSize, size_t kNibbles, bool kM>
struct DigitsOfFiveBits : DigitsOfNibbles<kSize, kNibbles, kM> {
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    const CodeLane d;
    Byte bits[8];
    std::memcpy(bits, b + kNibbles - 4, 4);
    std::memcpy(bits + 4, second + kNibbles - 4, 4);
    return hn::Or(blockNibbles(b + kNibbles, second + kNibbles),
                  hn::IfThenElseZero(hn::LoadMaskBits(d, bits), hn::Set(d, Byte{16})));
  }
};
using DigitsOfQ5_0 = DigitsOfFiveBits<22, 6, false>;
using DigitsOfQ5_1 = DigitsOfFiveBits<24, 8, true>;

struct DigitsOfQ8_0 : DigitsOfNibbles<34, 2, false> {
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

struct DigitsOfIQ4_NL : DigitsOfNibbles<18, 2, false> {
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    return lookedUpCodes(kUneven, blockNibbles(b + 2, second + 2));
  }
};

struct DigitsOfMXFP4 : DigitsOfNibbles<17, 1, false> {
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    return codesOf(blockNibbles(b + 1, second + 1));
  }
  static HWY_INLINE Lanes d(const Byte* b, const Byte* second) {
    return halves(Lane(), halfOfPower(*b), halfOfPower(*second));
  }

 protected:
  static HWY_INLINE CodeVector codesOf(CodeVector nibbles) {
    HWY_ALIGN static constexpr std::int8_t kCodes[16] = {12, 13, 14, 15, 16, 18, 20, 24,
                                                         12, 11, 10, 9,  8,  6,  4,  0};
    return hn::TableLookupBytes(hn::LoadDup128(CodeLane(), reinterpret_cast<const Byte*>(kCodes)), nibbles);
  }
};

struct DigitsOfMXFP4Apart : DigitsOfMXFP4 {
  static constexpr size_t kBytes = 16;
  static constexpr bool kApart = true;
  static HWY_INLINE CodeVector codes(const Byte* b, const Byte* second) {
    return codesOf(blockNibbles(b, second));
  }
};

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif

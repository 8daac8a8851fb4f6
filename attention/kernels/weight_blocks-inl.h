// Numbers that are kept in blocks, compiled once for each target: no include guard but Highway's own.
#if defined(HEADSCOPE_KERNELS_WEIGHT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_WEIGHT_BLOCKS_INL_H_
#undef HEADSCOPE_KERNELS_WEIGHT_BLOCKS_INL_H_
#else
#define HEADSCOPE_KERNELS_WEIGHT_BLOCKS_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <cstring>

#include "attention/kernels/vector-inl.h"
#include "attention/kernels/weight_type.h"

// The blocks as GGUF's specification describes them (github.com/ggml-org/ggml, docs/gguf.md). 32 or 256
// numbers share halves d (and m): a number is d·q, d·(q − c) or d·q + m. In blocks of 256 ("K") each 16 or 32
// have a whole number more, which scales d, and another, which scales m. A byte's low nibble comes first, its
// high nibble half a group later.

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

using Byte = std::uint8_t;

/// At most 16 lanes, which divide every group.
using GroupLane = hn::CappedTag<float, 16>;

/// A half at any byte.
HWY_INLINE float halfAt(const Byte* p) {
  std::uint16_t half;
  std::memcpy(&half, p, sizeof half);
  const std::uint32_t magnitude = half & 0x7fffu, sign = std::uint32_t{half} << 16 & 0x80000000u;
  // A half's bits below the sign are those of a float that is 2¹¹² times too small, but for infinity and NaN.
  const std::uint32_t moved = magnitude << 13;
  const std::uint32_t bits = magnitude >= 0x7c00u
                                 ? moved | 0x7f800000u
                                 : std::bit_cast<std::uint32_t>(std::bit_cast<float>(moved) * 0x1p112f);
  return std::bit_cast<float>(bits | sign);
}

/// y = scale·q + offset for `count` whole numbers, a multiple of 16.
template <typename Whole>
HWY_INLINE void scaleWhole(const Whole* q, size_t count, float scale, float offset, float* y) {
  const GroupLane d;
  const hn::RebindToSigned<GroupLane> whole;
  const hn::Rebind<Whole, GroupLane> narrow;
  const auto factor = hn::Set(d, scale), added = hn::Set(d, offset);
  for (size_t i = 0; i < count; i += hn::Lanes(d))
    hn::StoreU(hn::MulAdd(factor, hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(narrow, q + i))), added), d,
               y + i);
}

/// 16 bytes' nibbles, the low ones first.
HWY_INLINE void nibbles(const Byte* packed, Byte* q) {
  for (size_t i = 0; i < 16; ++i) {
    q[i] = packed[i] & 15;
    q[i + 16] = packed[i] >> 4;
  }
}

/// The same with a fifth bit each, from 32 bits.
HWY_INLINE void fiveBits(const Byte* packed, const Byte* high, Byte* q) {
  nibbles(packed, q);
  for (size_t i = 0; i < 32; ++i) q[i] = static_cast<Byte>(q[i] | (high[i / 8] >> i % 8 & 1) << 4);
}

/// 16 numbers that four bits stand for.
template <typename Number>
HWY_INLINE void lookUp(const Byte* packed, const Number (&table)[16], Number* q) {
  for (size_t i = 0; i < 16; ++i) {
    q[i] = table[packed[i] & 15];
    q[i + 16] = table[packed[i] >> 4];
  }
}

inline void unpackQ8_0(const Byte* b, float* y) {
  scaleWhole(reinterpret_cast<const std::int8_t*>(b + 2), 32, halfAt(b), 0, y);
}

inline void unpackQ4_0(const Byte* b, float* y) {
  Byte q[32];
  nibbles(b + 2, q);
  const float d = halfAt(b);
  scaleWhole(q, 32, d, -8 * d, y);
}

inline void unpackQ4_1(const Byte* b, float* y) {
  Byte q[32];
  nibbles(b + 4, q);
  scaleWhole(q, 32, halfAt(b), halfAt(b + 2), y);
}

inline void unpackQ5_0(const Byte* b, float* y) {
  Byte q[32];
  fiveBits(b + 6, b + 2, q);
  const float d = halfAt(b);
  scaleWhole(q, 32, d, -16 * d, y);
}

inline void unpackQ5_1(const Byte* b, float* y) {
  Byte q[32];
  fiveBits(b + 8, b + 4, q);
  scaleWhole(q, 32, halfAt(b), halfAt(b + 2), y);
}

/// Scales of 16 numbers (a byte: four bits for d, four for m), 2-bit numbers, d, m.
inline void unpackQ2_K(const Byte* b, float* y) {
  const Byte *const scales = b, *const packed = b + 16;
  const float d = halfAt(b + 80), m = halfAt(b + 82);
  Byte q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const Byte* const from = packed + group / 4 * 32;
    for (size_t i = 0; i < 32; ++i) q[i] = from[i] >> group % 4 * 2 & 3;
    for (size_t half = 0; half < 2; ++half) {
      const Byte scale = scales[2 * group + half];
      scaleWhole(q + 16 * half, 16, d * static_cast<float>(scale & 15), -m * static_cast<float>(scale >> 4),
                 y + 16 * half);
    }
  }
}

/// A third bit of each number (0 takes 4 off), 2-bit numbers, 6-bit scales of 16 numbers (less 32), d.
inline void unpackQ3_K(const Byte* b, float* y) {
  const Byte *const high = b, *const packed = b + 32, *const scales = b + 96;
  const float d = halfAt(b + 108);
  std::int8_t q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const Byte* const from = packed + group / 4 * 32;
    for (size_t i = 0; i < 32; ++i)
      q[i] = static_cast<std::int8_t>((from[i] >> group % 4 * 2 & 3) + 4 * (high[i] >> group & 1) - 4);
    for (size_t half = 0; half < 2; ++half) {
      const size_t j = 2 * group + half;
      const int low = scales[j % 8] >> j / 8 * 4 & 15, top = scales[8 + j % 4] >> j / 4 * 2 & 3;
      scaleWhole(q + 16 * half, 16, d * static_cast<float>((low | top << 4) - 32), 0, y + 16 * half);
    }
  }
}

/// The 6-bit scales of d and m of 8 groups, in 12 bytes.
struct GroupScales {
  float d[8], m[8];
};
HWY_INLINE GroupScales groupScales(const Byte* s, float d, float m) {
  GroupScales scales;
  for (size_t j = 0; j < 8; ++j) {
    const int forD = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
    const int forM = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
    scales.d[j] = d * static_cast<float>(forD);
    scales.m[j] = -m * static_cast<float>(forM);
  }
  return scales;
}

/// d, m, scales, 4-bit numbers: of each 32 bytes the low nibbles, then the high ones.
inline void unpackQ4_K(const Byte* b, float* y) {
  const GroupScales scales = groupScales(b + 4, halfAt(b), halfAt(b + 2));
  Byte q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const Byte* const from = b + 16 + group / 2 * 32;
    if (group % 2 == 0)
      for (size_t i = 0; i < 32; ++i) q[i] = from[i] & 15;
    else
      for (size_t i = 0; i < 32; ++i) q[i] = from[i] >> 4;
    scaleWhole(q, 32, scales.d[group], scales.m[group], y);
  }
}

/// The same with a fifth bit of each number between scales and nibbles: group g's are bit g of 32 bytes.
inline void unpackQ5_K(const Byte* b, float* y) {
  const GroupScales scales = groupScales(b + 4, halfAt(b), halfAt(b + 2));
  const Byte* const high = b + 16;
  Byte q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const Byte* const from = b + 48 + group / 2 * 32;
    const size_t shift = group % 2 * 4;
    for (size_t i = 0; i < 32; ++i)
      q[i] = static_cast<Byte>((from[i] >> shift & 15) | (high[i] >> group & 1) << 4);
    scaleWhole(q, 32, scales.d[group], scales.m[group], y);
  }
}

/// Low nibbles, upper 2 bits, signed scales of 16 numbers, d; 32 is taken off each number. Half a block has
/// 64 bytes of nibbles and 32 of upper bits.
inline void unpackQ6_K(const Byte* b, float* y) {
  const float d = halfAt(b + 208);
  std::int8_t q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const size_t part = group / 4, quarter = group % 4;
    const Byte* const low = b + 64 * part + quarter % 2 * 32;
    const Byte* const high = b + 128 + 32 * part;
    const auto* const scales = reinterpret_cast<const std::int8_t*>(b + 192) + 2 * group;
    const size_t shift = quarter / 2 * 4;
    for (size_t i = 0; i < 32; ++i)
      q[i] = static_cast<std::int8_t>(((low[i] >> shift & 15) | (high[i] >> 2 * quarter & 3) << 4) - 32);
    scaleWhole(q, 16, d * static_cast<float>(scales[0]), 0, y);
    scaleWhole(q + 16, 16, d * static_cast<float>(scales[1]), 0, y + 16);
  }
}

/// The 16 numbers of IQ4's four bits, closer to each other around 0.
inline constexpr std::int8_t kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};

inline void unpackIQ4_NL(const Byte* b, float* y) {
  std::int8_t q[32];
  lookUp(b + 2, kUneven, q);
  scaleWhole(q, 32, halfAt(b), 0, y);
}

/// d, the upper 2 bits of 8 scales, their lower 4 bits, nibbles; 32 is taken off each scale.
inline void unpackIQ4_XS(const Byte* b, float* y) {
  const float d = halfAt(b);
  const int high = b[2] | b[3] << 8;
  std::int8_t q[32];
  for (size_t group = 0; group < 8; ++group, y += 32) {
    const int scale = (b[4 + group / 2] >> group % 2 * 4 & 15) | (high >> 2 * group & 3) << 4;
    lookUp(b + 8 + 16 * group, kUneven, q);
    scaleWhole(q, 32, d * static_cast<float>(scale - 32), 0, y);
  }
}

/// Twice the numbers of a float of 4 bits (E2M1).
inline constexpr std::int8_t kTwiceE2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// OCP's MX format of 4 bits: a byte e, 2^(e − 127), then nibbles; 255 is NaN.
inline void unpackMXFP4(const Byte* b, float* y) {
  std::int8_t q[32];
  lookUp(b + 1, kTwiceE2M1, q);
  // Half of 2^(e − 127), whose smallest ones are subnormal.
  const std::uint32_t e = b[0];
  const std::uint32_t bits = e == 255 ? 0x7fc00000u : e >= 2 ? (e - 1) << 23 : 0x00200000u << e;
  scaleWhole(q, 32, std::bit_cast<float>(bits), 0, y);
}

/// Calls use with the function that unpacks one block.
template <typename Use>
HWY_INLINE void withUnpacking(WeightType type, const Use& use) {
  switch (type) {
    case WeightType::q8_0:
      return use(unpackQ8_0);
    case WeightType::q4_0:
      return use(unpackQ4_0);
    case WeightType::q4_1:
      return use(unpackQ4_1);
    case WeightType::q5_0:
      return use(unpackQ5_0);
    case WeightType::q5_1:
      return use(unpackQ5_1);
    case WeightType::q2_k:
      return use(unpackQ2_K);
    case WeightType::q3_k:
      return use(unpackQ3_K);
    case WeightType::q4_k:
      return use(unpackQ4_K);
    case WeightType::q5_k:
      return use(unpackQ5_K);
    case WeightType::q6_k:
      return use(unpackQ6_K);
    case WeightType::iq4_nl:
      return use(unpackIQ4_NL);
    case WeightType::iq4_xs:
      return use(unpackIQ4_XS);
    case WeightType::mxfp4:
      return use(unpackMXFP4);
    case WeightType::f32:
    case WeightType::f16:
    case WeightType::bf16:
    case WeightType::f64:
      return;
  }
}

/// `blocks` blocks of `numbers` numbers in `bytes` bytes each.
inline void unpackBlocks(WeightType type, WeightBlock block, const Byte* from, size_t blocks, float* to) {
  withUnpacking(type, [&](auto unpack) HWY_ATTR {
    for (size_t i = 0; i < blocks; ++i) unpack(from + i * block.bytes, to + i * block.numbers);
  });
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

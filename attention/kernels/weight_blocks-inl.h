// Weights in blocks. Compiled once for each target, so the only include guard is Highway's.
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
#include "attention/kernels/weight_bytes-inl.h"
#include "attention/kernels/weight_type.h"

// The block formats of GGUF's specification (github.com/ggml-org/ggml, docs/gguf.md). 32 or 256 numbers share
// halves d (and m); a number is d·q, d·(q − c) or d·q + m. In blocks of 256 ("K"), each 16 or 32 numbers also
// have an integer that scales d, and possibly another that scales m. A byte's low nibble belongs to the first
// half of a group, its high nibble to the second.

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Reads a half, which may be unaligned.
HWY_INLINE float halfAt(const Byte* p) {
  std::uint16_t half;
  std::memcpy(&half, p, sizeof half);
  const std::uint32_t magnitude = half & 0x7fffu, sign = std::uint32_t{half} << 16 & 0x80000000u;
  // A half's exponent is 112 less than a float's. Subnormal halves, which Q4_K's scales often are, are
  // converted as integers, because multiplying a subnormal float takes as long as unpacking a hundred
  // numbers.
  const std::uint32_t exponent = (magnitude >= 0x7c00u ? 224u : 112u) << 23;
  const std::uint32_t bits = magnitude < 0x400u
                                 ? std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f)
                                 : (magnitude << 13) + exponent;
  return std::bit_cast<float>(bits | sign);
}

/// At most 16 lanes, so they divide every group.
using GroupLane = hn::CappedTag<float, 16>;

/// Converts 8-bit integers to floats.
template <typename Whole>
HWY_INLINE hn::Vec<GroupLane> wholeNumbers(const Whole* q) {
  const hn::Rebind<Whole, GroupLane> narrow;
  return hn::ConvertTo(GroupLane(), hn::PromoteTo(hn::RebindToSigned<GroupLane>(), hn::LoadU(narrow, q)));
}

/// A sink that writes the numbers read from blocks, scale·q + offset.
struct UnpackedNumbers {
  float* y;

  /// `count` is a multiple of 16.
  template <typename Whole>
  HWY_INLINE void take(const Whole* q, size_t count, float scale, float offset = 0) {
    const GroupLane d;
    const auto factor = hn::Set(d, scale), added = hn::Set(d, offset);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
      hn::StoreU(hn::MulAdd(factor, wholeNumbers(q + i), added), d, y + i);
    y += count;
  }
  HWY_INLINE float sum() const { return 0; }
};

/// A sink that only sums up products with x: Σ (scale·q + offset)·x = scale·Σ q·x + offset·Σ x.
struct BlockProducts {
  const float* x;
  const float* xSums;  ///< sum of each kSummed numbers of x
  hn::Vec<GroupLane> sums = hn::Zero(GroupLane());
  float offsets = 0;

  template <typename Whole>
  HWY_INLINE void take(const Whole* q, size_t count, float scale) {
    const GroupLane d;
    auto products = hn::Mul(wholeNumbers(q), hn::LoadU(d, x));
    for (size_t i = hn::Lanes(d); i < count; i += hn::Lanes(d))
      products = hn::MulAdd(wholeNumbers(q + i), hn::LoadU(d, x + i), products);
    sums = hn::MulAdd(hn::Set(d, scale), products, sums);
    x += count;
  }
  template <typename Whole>
  HWY_INLINE void take(const Whole* q, size_t count, float scale, float offset) {
    take(q, count, scale);
    float inputs = 0;
    for (size_t i = 0; i < count / kSummed; ++i) inputs += *xSums++;
    offsets += offset * inputs;
  }
  HWY_INLINE float sum() const { return hn::GetLane(hn::SumOfLanes(GroupLane(), sums)) + offsets; }
};

template <typename Sink>
HWY_INLINE void readQ8_0(const Byte* b, Sink& to) {
  to.take(reinterpret_cast<const std::int8_t*>(b + 2), 32, halfAt(b));
}

template <typename Sink>
HWY_INLINE void readQ4_0(const Byte* b, Sink& to) {
  to.take(Signed(less(nibbles(b + 2), 8)).q, 32, halfAt(b));
}

template <typename Sink>
HWY_INLINE void readQ4_1(const Byte* b, Sink& to) {
  to.take(Unsigned(nibbles(b + 4)).q, 32, halfAt(b), halfAt(b + 2));
}

/// d, a fifth bit of each number in 32 bits, then nibbles.
template <typename Sink>
HWY_INLINE void readQ5_0(const Byte* b, Sink& to) {
  to.take(Signed(less(withBits(nibbles(b + 6), b + 2, 16), 16)).q, 32, halfAt(b));
}

template <typename Sink>
HWY_INLINE void readQ5_1(const Byte* b, Sink& to) {
  to.take(Unsigned(withBits(nibbles(b + 8), b + 4, 16)).q, 32, halfAt(b), halfAt(b + 2));
}

/// A byte of scales per 16 numbers (four bits for d, four for m), 2-bit numbers, d, m.
template <typename Sink>
HWY_INLINE void readQ2_K(const Byte* b, Sink& to) {
  const Byte *const scales = b, *const packed = b + 16;
  const float d = halfAt(b + 80), m = halfAt(b + 82);
  for (size_t group = 0; group < 8; ++group) {
    const Unsigned codes(bitsOf(packed + group / 4 * 32, group % 4 * 2, 3));
    for (size_t half = 0; half < 2; ++half) {
      const Byte scale = scales[2 * group + half];
      to.take(codes.q + 16 * half, 16, d * static_cast<float>(scale & 15),
              -m * static_cast<float>(scale >> 4));
    }
  }
}

/// A third bit of each number (0 subtracts 4), 2-bit numbers, 6-bit scales of 16 numbers (minus 32), d.
template <typename Sink>
HWY_INLINE void readQ3_K(const Byte* b, Sink& to) {
  const Byte *const high = b, *const packed = b + 32, *const scales = b + 96;
  const float d = halfAt(b + 108);
  for (size_t group = 0; group < 8; ++group) {
    const Bytes low = bitsOf(packed + group / 4 * 32, group % 4 * 2, 3);
    const Signed codes(less(withBitOfEach(low, high, group, 4), 4));
    for (size_t half = 0; half < 2; ++half) {
      const size_t j = 2 * group + half;
      const int bits = scales[j % 8] >> j / 8 * 4 & 15, top = scales[8 + j % 4] >> j / 4 * 2 & 3;
      to.take(codes.q + 16 * half, 16, d * static_cast<float>((bits | top << 4) - 32));
    }
  }
}

/// The 6-bit scales of d and m for 8 groups, in 12 bytes.
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

/// d, m, scales, 4-bit numbers: the low nibbles of each 32 bytes, then the high nibbles.
template <typename Sink>
HWY_INLINE void readQ4_K(const Byte* b, Sink& to) {
  const GroupScales scales = groupScales(b + 4, halfAt(b), halfAt(b + 2));
  for (size_t group = 0; group < 8; ++group)
    to.take(Unsigned(bitsOf(b + 16 + group / 2 * 32, group % 2 * 4, 15)).q, 32, scales.d[group],
            scales.m[group]);
}

/// The same, with the fifth bits of numbers between scales and nibbles: bit g of 32 bytes is for group g.
template <typename Sink>
HWY_INLINE void readQ5_K(const Byte* b, Sink& to) {
  const GroupScales scales = groupScales(b + 4, halfAt(b), halfAt(b + 2));
  for (size_t group = 0; group < 8; ++group) {
    const Bytes low = bitsOf(b + 48 + group / 2 * 32, group % 2 * 4, 15);
    to.take(Unsigned(withBitOfEach(low, b + 16, group, 16)).q, 32, scales.d[group], scales.m[group]);
  }
}

/// Low nibbles, upper 2 bits, signed scales of 16 numbers, d; 32 is subtracted from each number. Each half of
/// a block has 64 bytes of nibbles and 32 bytes of upper bits.
template <typename Sink>
HWY_INLINE void readQ6_K(const Byte* b, Sink& to) {
  const float d = halfAt(b + 208);
  for (size_t group = 0; group < 8; ++group) {
    const size_t part = group / 4, quarter = group % 4;
    const Bytes low = bitsOf(b + 64 * part + quarter % 2 * 32, quarter / 2 * 4, 15);
    const Bytes high = bitsOf(b + 128 + 32 * part, 2 * quarter, 3);
    const auto* const scales = reinterpret_cast<const std::int8_t*>(b + 192) + 2 * group;
    const Signed codes(less(joined(low, high), 32));
    to.take(codes.q, 16, d * static_cast<float>(scales[0]));
    to.take(codes.q + 16, 16, d * static_cast<float>(scales[1]));
  }
}

/// The 16 numbers that IQ4's four bits stand for, spaced more closely around 0.
inline constexpr std::int8_t kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                            1,    13,   25,  38,  53,  69,  89,  113};

template <typename Sink>
HWY_INLINE void readIQ4_NL(const Byte* b, Sink& to) {
  to.take(Signed(lookedUp(nibbles(b + 2), kUneven)).q, 32, halfAt(b));
}

/// d, the upper 2 bits of 8 scales, their lower 4 bits, nibbles; 32 is subtracted from each scale.
template <typename Sink>
HWY_INLINE void readIQ4_XS(const Byte* b, Sink& to) {
  const float d = halfAt(b);
  const int high = b[2] | b[3] << 8;
  for (size_t group = 0; group < 8; ++group) {
    const int scale = (b[4 + group / 2] >> group % 2 * 4 & 15) | (high >> 2 * group & 3) << 4;
    const Signed codes(lookedUp(nibbles(b + 8 + 16 * group), kUneven));
    to.take(codes.q, 32, d * static_cast<float>(scale - 32));
  }
}

/// Twice the values of a 4-bit float (E2M1).
inline constexpr std::int8_t kTwiceE2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Returns half of 2^(e − 127). The smallest results are subnormal; e = 255 gives NaN.
HWY_INLINE float halfOfPower(std::uint32_t e) {
  return std::bit_cast<float>(e == 255 ? 0x7fc00000u : e >= 2 ? (e - 1) << 23 : 0x00200000u << e);
}

/// OCP's 4-bit MX format: a byte e for the scale 2^(e − 127), then nibbles.
template <typename Sink>
HWY_INLINE void readMXFP4(const Byte* b, Sink& to) {
  to.take(Signed(lookedUp(nibbles(b + 1), kTwiceE2M1)).q, 32, halfOfPower(b[0]));
}

/// The same as stored in safetensors: adjacent numbers share a byte, low nibble first, and e is stored
/// separately.
template <typename Sink>
float readMXFP4Apart(const Byte* from, const Byte* scales, size_t blocks, Sink to) {
  for (size_t i = 0; i < blocks; ++i)
    to.take(Signed(lookedUp(inTurn(nibbles(from + 16 * i)), kTwiceE2M1)).q, 32, halfOfPower(scales[i]));
  return to.sum();
}

/// Passes all blocks to a local sink made from `arguments`, so that its sums stay in registers.
template <auto kRead, typename Sink, typename... Arguments>
float eachBlock(const Byte* from, size_t bytes, size_t blocks, Arguments... arguments) {
  Sink sink{arguments...};
  for (size_t i = 0; i < blocks; ++i) kRead(from + i * bytes, sink);
  return sink.sum();
}

/// Passes the numbers of `blocks` blocks to a sink in order and returns its sum. `scales` is for mxfp4_apart.
template <typename Sink, typename... Arguments>
float readBlocks(WeightType type, const Byte* from, const Byte* scales, size_t blocks,
                 Arguments... arguments) {
  switch (type) {
#define HEADSCOPE_READ_BLOCKS(type, Name, numbers, bytes) \
  case WeightType::type:                                  \
    return eachBlock<read##Name<Sink>, Sink>(from, bytes, blocks, arguments...);
    HEADSCOPE_BLOCK_TYPES(HEADSCOPE_READ_BLOCKS)
#undef HEADSCOPE_READ_BLOCKS
    case WeightType::mxfp4_apart:
      return readMXFP4Apart(from, scales, blocks, Sink{arguments...});
    case WeightType::f32:
    case WeightType::f16:
    case WeightType::bf16:
    case WeightType::f64:
      break;
  }
  return 0;
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

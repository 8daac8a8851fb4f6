// Extracts codes of a few bits from bytes. Compiled once for each target, so the only include guard is
// Highway's.
#if defined(HEADSCOPE_KERNELS_WEIGHT_BYTES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_WEIGHT_BYTES_INL_H_
#undef HEADSCOPE_KERNELS_WEIGHT_BYTES_INL_H_
#else
#define HEADSCOPE_KERNELS_WEIGHT_BYTES_INL_H_
#endif

#include <array>
#include <cstdint>
#include <cstring>

#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

using Byte = std::uint8_t;

#if HWY_TARGET == HWY_SCALAR
using ByteLanes = std::array<Byte, 16>;
#else
using ByteLane = hn::FixedTag<Byte, 16>;
using ByteLanes = hn::Vec<ByteLane>;
#endif

/// 32 bytes processed together.
struct Bytes {
  ByteLanes low, high;
};

#if HWY_TARGET == HWY_SCALAR
template <typename Each>
HWY_INLINE Bytes eachByte(const Each& each) {
  Bytes bytes;
  for (size_t i = 0; i < 16; ++i) bytes.low[i] = static_cast<Byte>(each(i));
  for (size_t i = 0; i < 16; ++i) bytes.high[i] = static_cast<Byte>(each(i + 16));
  return bytes;
}
HWY_INLINE Byte byteAt(const Bytes& q, size_t i) {
  return i < 16 ? q.low[i] : q.high[i - 16];
}
HWY_INLINE Bytes bitsOf(const Byte* from, size_t shift, Byte mask) {
  return eachByte([&](size_t i) { return from[i] >> shift & mask; });
}
HWY_INLINE Bytes nibbles(const Byte* packed) {
  return eachByte([&](size_t i) { return i < 16 ? packed[i] & 15 : packed[i - 16] >> 4; });
}
HWY_INLINE Bytes inTurn(const Bytes& q) {
  return eachByte([&](size_t i) { return byteAt(q, i / 2 + i % 2 * 16); });
}
HWY_INLINE Bytes withBitOfEach(const Bytes& q, const Byte* from, size_t bit, Byte value) {
  return eachByte([&](size_t i) { return byteAt(q, i) | (from[i] >> bit & 1) * value; });
}
HWY_INLINE Bytes withBits(const Bytes& q, const Byte* bits, Byte value) {
  return eachByte([&](size_t i) { return byteAt(q, i) | (bits[i / 8] >> i % 8 & 1) * value; });
}
HWY_INLINE Bytes joined(const Bytes& q, const Bytes& high) {
  return eachByte([&](size_t i) { return byteAt(q, i) | byteAt(high, i) << 4; });
}
HWY_INLINE Bytes less(const Bytes& q, Byte some) {
  return eachByte([&](size_t i) { return byteAt(q, i) - some; });
}
HWY_INLINE Bytes lookedUp(const Bytes& q, const std::int8_t (&table)[16]) {
  return eachByte([&](size_t i) { return table[byteAt(q, i)]; });
}
HWY_INLINE void storeBytes(const Bytes& q, Byte* to) {
  for (size_t i = 0; i < 32; ++i) to[i] = byteAt(q, i);
}
#else
/// Returns (byte >> shift) & mask; the mask must exclude bits shifted in from the neighbouring byte.
HWY_INLINE ByteLanes shifted(ByteLanes bytes, size_t shift, Byte mask) {
  const hn::Repartition<std::uint16_t, ByteLane> pairs;
  const auto moved = hn::ShiftRightSame(hn::BitCast(pairs, bytes), static_cast<int>(shift));
  return hn::And(hn::BitCast(ByteLane(), moved), hn::Set(ByteLane(), mask));
}
HWY_INLINE Bytes bitsOf(const Byte* from, size_t shift, Byte mask) {
  const ByteLane d;
  return {shifted(hn::LoadU(d, from), shift, mask), shifted(hn::LoadU(d, from + 16), shift, mask)};
}
/// Returns the nibbles of 16 bytes, the low ones first.
HWY_INLINE Bytes nibbles(const Byte* packed) {
  const ByteLanes bytes = hn::LoadU(ByteLane(), packed);
  return {hn::And(bytes, hn::Set(ByteLane(), 15)), shifted(bytes, 4, 15)};
}
/// Interleaves the first half with the second.
HWY_INLINE Bytes inTurn(Bytes q) {
  const ByteLane d;
  return {hn::InterleaveLower(d, q.low, q.high), hn::InterleaveUpper(d, q.low, q.high)};
}
/// Returns `value` for bytes that have a bit of `bits`, 0 for others.
HWY_INLINE ByteLanes where(ByteLanes bytes, ByteLanes bits, Byte value) {
  const ByteLane d;
  return hn::And(hn::VecFromMask(d, hn::TestBit(bytes, bits)), hn::Set(d, value));
}
/// Adds `value` to each number whose byte at `from` has the bit.
HWY_INLINE Bytes withBitOfEach(Bytes q, const Byte* from, size_t bit, Byte value) {
  const ByteLane d;
  const ByteLanes bits = hn::Set(d, static_cast<Byte>(1 << bit));
  return {hn::Or(q.low, where(hn::LoadU(d, from), bits, value)),
          hn::Or(q.high, where(hn::LoadU(d, from + 16), bits, value))};
}
/// Adds `value` to each number whose bit is set among the 32.
HWY_INLINE Bytes withBits(Bytes q, const Byte* bits, Byte value) {
  const ByteLane d;
  HWY_ALIGN static constexpr Byte kBit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  HWY_ALIGN static constexpr Byte kByte[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  std::uint32_t all;
  std::memcpy(&all, bits, sizeof all);
  const ByteLanes four = hn::BitCast(d, hn::Set(hn::Repartition<std::uint32_t, ByteLane>(), all));
  const ByteLanes at = hn::Load(d, kByte), bit = hn::Load(d, kBit);
  return {hn::Or(q.low, where(hn::TableLookupBytes(four, at), bit, value)),
          hn::Or(q.high, where(hn::TableLookupBytes(four, hn::Add(at, hn::Set(d, 2))), bit, value))};
}
HWY_INLINE ByteLanes aboveNibble(ByteLanes q, ByteLanes high) {
  const hn::Repartition<std::uint16_t, ByteLane> pairs;
  return hn::Or(q, hn::BitCast(ByteLane(), hn::ShiftLeft<4>(hn::BitCast(pairs, high))));
}
/// Combines low nibbles with the nibbles above them.
HWY_INLINE Bytes joined(Bytes q, Bytes high) {
  return {aboveNibble(q.low, high.low), aboveNibble(q.high, high.high)};
}
HWY_INLINE Bytes less(Bytes q, Byte some) {
  const ByteLanes taken = hn::Set(ByteLane(), some);
  return {hn::Sub(q.low, taken), hn::Sub(q.high, taken)};
}
/// Looks up the numbers that nibbles stand for.
HWY_INLINE Bytes lookedUp(Bytes q, const std::int8_t (&table)[16]) {
  const auto numbers = hn::LoadU(ByteLane(), reinterpret_cast<const Byte*>(table));
  return {hn::TableLookupBytes(numbers, q.low), hn::TableLookupBytes(numbers, q.high)};
}
HWY_INLINE void storeBytes(Bytes q, Byte* to) {
  hn::StoreU(q.low, ByteLane(), to);
  hn::StoreU(q.high, ByteLane(), to + 16);
}
#endif

/// The bytes as an array of numbers, 0 … 255 or −128 … 127.
template <typename Whole>
struct Codes {
  Whole q[32];
  HWY_INLINE explicit Codes(Bytes bytes) { storeBytes(bytes, reinterpret_cast<Byte*>(q)); }
};
using Unsigned = Codes<Byte>;
using Signed = Codes<std::int8_t>;

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

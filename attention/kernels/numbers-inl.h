// Numbers as stored in caches and weights. Compiled once for each target, so the only include guard is
// Highway's.
#if defined(HEADSCOPE_KERNELS_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADSCOPE_KERNELS_NUMBERS_INL_H_
#undef HEADSCOPE_KERNELS_NUMBERS_INL_H_
#else
#define HEADSCOPE_KERNELS_NUMBERS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Loads a vector of numbers as floats. The address may be unaligned.
HWY_INLINE Lanes loadNumbers(const float* p) {
  return hn::LoadU(Lane(), p);
}

HWY_INLINE Lanes loadNumbers(const hwy::bfloat16_t* p) {
  const Lane d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, Lane>(), p));
}

HWY_INLINE Lanes loadNumbers(const hwy::float16_t* p) {
  const Lane d;
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
  // Without a conversion instruction, Highway only converts finite halves. A half's bits below the sign are
  // those of a float that is 2¹¹² times too small, except that infinity and NaN keep the largest exponent.
  const hn::RebindToUnsigned<Lane> du;
  const hn::Rebind<std::uint16_t, Lane> half;
  const auto bits = hn::PromoteTo(du, hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffu));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const Lanes moved = hn::BitCast(d, hn::ShiftLeft<13>(magnitude));
  const Lanes finite = hn::Mul(moved, hn::Set(d, 0x1p112f));
  const Lanes special = hn::Or(moved, hn::BitCast(d, hn::Set(du, 0x7f800000u)));
  const Lanes value = hn::IfThenElse(hn::Ge(finite, hn::Set(d, 65536.0f)), special, finite);
  return hn::Or(value, hn::BitCast(d, sign));
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // On Zen 4, converting 512 bits at once takes longer than 256 bits twice.
  const hn::Half<Lane> half;
  const hn::Rebind<hwy::float16_t, hn::Half<Lane> > halves;
  return hn::Combine(d, hn::PromoteTo(half, hn::LoadU(halves, p + hn::Lanes(half))),
                     hn::PromoteTo(half, hn::LoadU(halves, p)));
#else
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, Lane>(), p));
#endif
}

/// Loads doubles, rounded to float.
HWY_INLINE Lanes loadNumbers(const double* p) {
  const Lane d;
  HWY_ALIGN double part[hn::MaxLanes(d)];
  HWY_ALIGN float rounded[hn::MaxLanes(d)];
  std::memcpy(part, p, hn::Lanes(d) * sizeof(double));
  for (size_t i = 0; i < hn::Lanes(d); ++i) rounded[i] = static_cast<float>(part[i]);
  return hn::Load(d, rounded);
}

/// Loads the first `count` lanes without reading further; the others are 0.
template <typename Number>
HWY_INLINE Lanes loadNumbersPart(const Number* p, size_t count) {
  const Lane d;
  HWY_ALIGN Number part[hn::MaxLanes(d)] = {};
  std::memcpy(part, p, count * sizeof(Number));
  return loadNumbers(part);
}

/// Converts `count` numbers to floats.
template <typename Number>
HWY_INLINE void copyNumbers(const Number* from, size_t count, float* to) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  for (; i + n <= count; i += n) hn::StoreU(loadNumbers(from + i), d, to + i);
  if (i == count) return;
  HWY_ALIGN float part[hn::MaxLanes(d)];
  hn::Store(loadNumbersPart(from + i, count - i), d, part);
  std::memcpy(to + i, part, (count - i) * sizeof(float));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

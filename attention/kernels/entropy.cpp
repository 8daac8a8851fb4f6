#include "attention/kernels/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/entropy.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

/// Returns ln x for normal numbers x > 0: x = 2^e·m with m from √½ to √2, and ln m = 2·artanh s = 2·(s + s³/3
/// + s⁵/5 + …) with s = (m − 1)/(m + 1), |s| ≤ 0.172. Terms from s¹¹ on are below a float's precision.
HWY_INLINE Lanes logarithm(Lanes x) {
  const Lane d;
  const hn::RebindToSigned<Lane> di;
  const auto bits = hn::BitCast(di, x);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));  // of √½
  const Lanes m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Lanes one = hn::Set(d, 1.0f);
  const Lanes s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), square = hn::Mul(s, s);
  Lanes series = hn::MulAdd(square, hn::Set(d, 2.0f / 9), hn::Set(d, 2.0f / 7));
  series = hn::MulAdd(square, series, hn::Set(d, 2.0f / 5));
  series = hn::MulAdd(square, series, hn::Set(d, 2.0f / 3));
  series = hn::MulAdd(square, series, hn::Set(d, 2.0f));
  return hn::MulAdd(hn::ConvertTo(d, exponent), hn::Set(d, 0.693147181f), hn::Mul(s, series));
}

/// Returns p·ln p; for subnormal p, with the logarithm of the smallest normal number.
HWY_INLINE Lanes weighedLogarithm(Lanes p) {
  return hn::Mul(p, logarithm(hn::Max(p, hn::Set(Lane(), std::numeric_limits<float>::min()))));
}

float entropySum(const float* p, size_t count) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  Lanes sum = hn::Zero(d), other = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    sum = hn::Add(sum, weighedLogarithm(hn::LoadU(d, p + i)));
    other = hn::Add(other, weighedLogarithm(hn::LoadU(d, p + i + n)));
  }
  for (; i < count; i += n)
    sum = hn::Add(sum, weighedLogarithm(i + n <= count ? hn::LoadU(d, p + i) : loadPart(p + i, count - i)));
  return -hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {
HWY_EXPORT(entropySum);
}  // namespace

float entropyOf(const float* p, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(entropySum)(p, count);
}

}  // namespace headscope::attention::kernels
#endif

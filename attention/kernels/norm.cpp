#include "attention/kernels/norm.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/norm.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64
using Wide = hn::ScalableTag<double>;
using Narrow = hn::Rebind<float, Wide>;  ///< as many floats as there are doubles in a vector
#endif

/// Returns Σ (x − mean)^power for power 1 or 2.
template <int kPower>
HWY_INLINE double momentOf(const float* x, size_t count, double mean) {
  double total = 0;
  size_t i = 0;
#if HWY_HAVE_FLOAT64  // not with Highway 1.0 in WebAssembly
  const Wide d;
  const auto middle = hn::Set(d, mean);
  auto sums = hn::Zero(d);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::Sub(hn::PromoteTo(d, hn::LoadU(Narrow(), x + i)), middle);
    sums = kPower == 1 ? hn::Add(sums, value) : hn::MulAdd(value, value, sums);
  }
  total = hn::GetLane(hn::SumOfLanes(d, sums));
#endif
  double others = 0;
  for (; i < count; ++i) {
    const double value = static_cast<double>(x[i]) - mean;
    others += kPower == 1 ? value : value * value;
  }
  return total + others;
}

void normalizeRow(const float* x, size_t count, const float* weight, const float* bias, double epsilon,
                  bool centred, float* y) {
  const auto size = static_cast<double>(count);
  const double mean = centred ? momentOf<1>(x, count, 0) / size : 0;
  const double factor = 1 / std::sqrt(momentOf<2>(x, count, mean) / size + epsilon);
  size_t i = 0;
#if HWY_HAVE_FLOAT64
  const Wide d;
  const Narrow narrow;
  const auto middle = hn::Set(d, mean), scale = hn::Set(d, factor);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto value = hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), middle);
    const auto normed = hn::DemoteTo(narrow, hn::Mul(value, scale));
    const auto shift = bias ? hn::LoadU(narrow, bias + i) : hn::Zero(narrow);
    hn::StoreU(hn::MulAdd(normed, hn::LoadU(narrow, weight + i), shift), narrow, y + i);
  }
#endif
  for (; i < count; ++i) {
    const auto normed = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
    y[i] = normed * weight[i] + (bias ? bias[i] : 0);
  }
}

/// Uses e^−|u|, which never overflows.
HWY_INLINE Lanes weighed(Lanes x, Lanes linear, Lanes cubic) {
  const Lane d;
  // Keep the square finite: if `cubic` is 0, their product must not be NaN.
  const Lanes square = hn::Min(hn::Mul(x, x), hn::Set(d, 3e38f));
  const Lanes u = hn::Mul(x, hn::MulAdd(cubic, square, linear));
  const Lanes power = expNonPositive(hn::Neg(hn::Abs(u)));
  const Lanes one = hn::Set(d, 1.0f);
  const Lanes share = hn::IfThenElse(hn::Lt(u, hn::Zero(d)), power, one);
  return hn::Mul(x, hn::Div(share, hn::Add(one, power)));
}

void sigmoidProducts(float* x, size_t count, float linear, float cubic) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const Lanes a = hn::Set(d, linear), b = hn::Set(d, cubic);
  size_t i = 0;
  for (; i + n <= count; i += n) hn::StoreU(weighed(hn::LoadU(d, x + i), a, b), d, x + i);
  if (i < count) storePart(weighed(loadPart(x + i, count - i), a, b), count - i, x + i);
}

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
HWY_EXPORT(normalizeRow);
HWY_EXPORT(sigmoidProducts);
HWY_EXPORT(entropySum);
}  // namespace

void normalize(const float* x, std::size_t count, const float* weight, const float* bias, double epsilon,
               bool centred, float* y) {
  HWY_DYNAMIC_DISPATCH(normalizeRow)(x, count, weight, bias, epsilon, centred, y);
}

void timesSigmoid(float* x, std::size_t count, float linear, float cubic) {
  HWY_DYNAMIC_DISPATCH(sigmoidProducts)(x, count, linear, cubic);
}

float entropyOf(const float* p, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(entropySum)(p, count);
}

}  // namespace headscope::attention::kernels
#endif

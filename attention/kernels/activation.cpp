#include <cstring>

#include "attention/kernels/norm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/activation.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

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
  if (i == count) return;
  HWY_ALIGN float part[hn::MaxLanes(d)];
  hn::Store(weighed(loadPart(x + i, count - i), a, b), d, part);
  std::memcpy(x + i, part, (count - i) * sizeof(float));
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {
HWY_EXPORT(sigmoidProducts);
}  // namespace

void timesSigmoid(float* x, std::size_t count, float linear, float cubic) {
  HWY_DYNAMIC_DISPATCH(sigmoidProducts)(x, count, linear, cubic);
}

}  // namespace headscope::attention::kernels
#endif

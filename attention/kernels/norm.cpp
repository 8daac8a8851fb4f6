#include "attention/kernels/norm.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/norm.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

#if HWY_HAVE_FLOAT64

using Wide = hn::ScalableTag<double>;
using WideLanes = hn::Vec<Wide>;
using Narrow = hn::Rebind<float, Wide>;  ///< as many floats as there are doubles in a vector

/// Calls step(i) for every whole vector of doubles beginning at number i, then rest(i) for each remaining
/// number.
template <typename Step, typename Rest>
HWY_INLINE void forNumbers(size_t count, const Step& step, const Rest& rest) {
  const size_t n = hn::Lanes(Wide());
  size_t i = 0;
  for (; i + n <= count; i += n) step(i);
  for (; i < count; ++i) rest(i);
}

/// Returns Σ (x − mean)^power for power 1 or 2.
template <int kPower>
HWY_INLINE double momentOf(const float* x, size_t count, double mean) {
  const Wide d;
  const WideLanes middle = hn::Set(d, mean);
  WideLanes sums = hn::Zero(d);
  double others = 0;
  forNumbers(
      count,
      [&](size_t i) HWY_ATTR {
        const WideLanes value = hn::Sub(hn::PromoteTo(d, hn::LoadU(Narrow(), x + i)), middle);
        sums = kPower == 1 ? hn::Add(sums, value) : hn::MulAdd(value, value, sums);
      },
      [&](size_t i) HWY_ATTR {
        const double value = static_cast<double>(x[i]) - mean;
        others += kPower == 1 ? value : value * value;
      });
  return hn::GetLane(hn::SumOfLanes(d, sums)) + others;
}

void normalizeRow(const float* x, size_t count, const float* weight, const float* bias, double epsilon,
                  bool centred, float* y) {
  const auto size = static_cast<double>(count);
  const double mean = centred ? momentOf<1>(x, count, 0) / size : 0;
  const double factor = 1 / std::sqrt(momentOf<2>(x, count, mean) / size + epsilon);
  const Wide d;
  const Narrow narrow;
  const WideLanes middle = hn::Set(d, mean), scale = hn::Set(d, factor);
  forNumbers(
      count,
      [&](size_t i) HWY_ATTR {
        const WideLanes value = hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), middle);
        const auto normed = hn::DemoteTo(narrow, hn::Mul(value, scale));
        const auto shift = bias ? hn::LoadU(narrow, bias + i) : hn::Zero(narrow);
        hn::StoreU(hn::MulAdd(normed, hn::LoadU(narrow, weight + i), shift), narrow, y + i);
      },
      [&](size_t i) HWY_ATTR {
        const auto normed = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
        y[i] = normed * weight[i] + (bias ? bias[i] : 0);
      });
}

#else  // no vectors of doubles: Highway 1.0 in WebAssembly

void normalizeRow(const float* x, size_t count, const float* weight, const float* bias, double epsilon,
                  bool centred, float* y) {
  const auto size = static_cast<double>(count);
  double mean = 0, squares = 0;
  for (size_t i = 0; centred && i < count; ++i) mean += static_cast<double>(x[i]) / size;
  for (size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(x[i]) - mean;
    squares += value * value;
  }
  const double factor = 1 / std::sqrt(squares / size + epsilon);
  for (size_t i = 0; i < count; ++i) {
    const auto normed = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
    y[i] = normed * weight[i] + (bias ? bias[i] : 0);
  }
}

#endif

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {
HWY_EXPORT(normalizeRow);
}  // namespace

void normalize(const float* x, std::size_t count, const float* weight, const float* bias, double epsilon,
               bool centred, float* y) {
  HWY_DYNAMIC_DISPATCH(normalizeRow)(x, count, weight, bias, epsilon, centred, y);
}

}  // namespace headscope::attention::kernels
#endif

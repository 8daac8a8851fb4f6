#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "attention/core/tensor.h"

namespace headscope::attention {

// std::max and Eigen's plain maxCoeff() may drop or keep NaN, depending on the order of their arguments and
// on the instruction set. Error measures must keep NaN; the scale of a picture must ignore it.

/// Returns the larger of two values; NaN if either is NaN.
template <class T>
T larger(T a, T b) {
  return std::isnan(a) || a > b ? a : b;
}

/// Returns the value further from 0, with its sign; NaN if either is NaN.
template <class T>
T stronger(T a, T b) {
  return std::isnan(a) || std::abs(a) >= std::abs(b) ? a : b;
}

/// Whether `a` sorts before `b` in descending order with NaN last. Unlike ">", a valid sort order when
/// values are NaN.
template <class T>
bool descends(T a, T b) {
  return std::isnan(b) ? !std::isnan(a) : a > b;
}

/// Returns the largest |value|; NaN if any is NaN, 0 if there are no values.
template <class Derived>
typename Derived::Scalar largestMagnitude(const Eigen::DenseBase<Derived>& values) {
  if (values.size() == 0) return 0;
  return values.derived().array().abs().template maxCoeff<Eigen::PropagateNaN>();
}

/// Returns the largest finite |value|; 0 if none is finite.
template <class Derived>
typename Derived::Scalar largestFinite(const Eigen::DenseBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  // The bits of non-negative floats sort like their values. Compilers vectorise an integer maximum, but must
  // not vectorise a floating-point one.
  using Bits = std::conditional_t<sizeof(Scalar) == 4, std::int32_t, std::int64_t>;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<Scalar>::infinity());
  Bits most = 0;
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col) {
      const Bits bits = std::bit_cast<Bits>(std::abs(values.derived().coeff(row, col)));
      most = std::max(most, bits < kInfinity ? bits : Bits(0));
    }
  return std::bit_cast<Scalar>(most);
}

/// Returns the smallest and largest finite value; 0 and 0 if none is finite.
template <class Derived>
std::pair<typename Derived::Scalar, typename Derived::Scalar> finiteRange(
    const Eigen::DenseBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  Scalar low = std::numeric_limits<Scalar>::infinity(), high = -low;
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      if (const Scalar value = values.derived().coeff(row, col); std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  return low <= high ? std::pair(low, high) : std::pair(Scalar(0), Scalar(0));
}

inline bool allFinite(const Stack& values) {
  for (Index i = 0; i < values.count(); ++i)
    if (!values[i].allFinite()) return false;
  return true;
}

/// Returns ⌈size/factor⌉: how many blocks of `factor` cover `size`.
constexpr Index pooledSize(Index size, Index factor) {
  return (size + factor - 1) / factor;
}

/// Pools values [rows, cols] over blocks of factor × factor into out [⌈rows/factor⌉, ⌈cols/factor⌉]: each
/// block's largest value, so that a bright cell stays visible. NaN is larger than every number. Throws
/// std::invalid_argument if the factor is below 1 or `out` has another shape.
void maxPool(const Eigen::Ref<const Matrix>& values, Index factor, Eigen::Ref<Matrix> out);
/// Returns the same.
Matrix maxPooled(const Eigen::Ref<const Matrix>& values, Index factor);

}  // namespace headscope::attention

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "attention/core/tensor.h"

namespace headscope::attention {

// std::max, and maxCoeff() as Eigen has it without a template argument, drop NaN or keep it, as the order of
// their arguments and the processor's instructions have it. What measures an error must keep it, what scales
// a picture must not.

/// The larger of two; NaN where one of them is.
template <class T>
T larger(T a, T b) {
  return std::isnan(a) || a > b ? a : b;
}

/// The one further from 0, with its sign; NaN where one of them is.
template <class T>
T stronger(T a, T b) {
  return std::isnan(a) || std::abs(a) >= std::abs(b) ? a : b;
}

/// Whether `a` stands before `b` where the largest comes first and NaN last: an order for sorting, which ">"
/// is not where NaN takes part.
template <class T>
bool descends(T a, T b) {
  return std::isnan(b) ? !std::isnan(a) : a > b;
}

/// The largest |value|; NaN where one is NaN, 0 of none.
template <class Derived>
typename Derived::Scalar largestMagnitude(const Eigen::DenseBase<Derived>& values) {
  if (values.size() == 0) return 0;
  return values.derived().array().abs().template maxCoeff<Eigen::PropagateNaN>();
}

/// The largest |value| that is finite; 0 where none is.
template <class Derived>
typename Derived::Scalar largestFinite(const Eigen::DenseBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  // The bits of what isn't negative are in the order of the values, and compilers turn a largest integer into
  // vectors: of floats they may not.
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

/// The least and the largest of the finite values; 0 and 0 where none is.
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

}  // namespace headscope::attention

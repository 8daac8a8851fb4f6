#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

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

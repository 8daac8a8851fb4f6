#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Computes the norms of core/norm.h over `count` numbers; m is the mean if `centred`, else 0. `bias` may be
/// null.
void normalize(const float* x, std::size_t count, const float* weight, const float* bias, double epsilon,
               bool centred, float* y);

}  // namespace headscope::attention::kernels

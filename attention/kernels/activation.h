#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Computes x = x·σ(linear·x + cubic·x³) for each of `count` numbers, with σ(u) = 1/(1 + e⁻ᵘ).
void timesSigmoid(float* x, std::size_t count, float linear, float cubic);

}  // namespace headscope::attention::kernels

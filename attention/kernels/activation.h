#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// x = x·σ(linear·x + cubic·x³) for each of `count` numbers, σ(u) = 1/(1 + e⁻ᵘ): with 1 and 0 it is SiLU,
/// with 2·√(2/π) and 0.044715 times that GELU by its tanh (Hendrycks and Gimpel 2016), as (1 + tanh u)/2 =
/// σ(2u).
void timesSigmoid(float* x, std::size_t count, float linear, float cubic);

}  // namespace headscope::attention::kernels

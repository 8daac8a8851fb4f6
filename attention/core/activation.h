#pragma once

#include <span>

namespace headscope::attention {

/// Computes x·σ(x) in place, with σ(u) = 1/(1 + e⁻ᵘ) (Elfwing et al. 2017).
void silu(std::span<float> x);
/// Computes x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) in place (Hendrycks and Gimpel 2016).
void geluByTanh(std::span<float> x);

}  // namespace headscope::attention

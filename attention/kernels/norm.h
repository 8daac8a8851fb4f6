#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Computes x = x·σ(linear·x + cubic·x³) for each of `count` numbers, with σ(u) = 1/(1 + e⁻ᵘ).
void timesSigmoid(float* x, std::size_t count, float linear, float cubic);

/// Returns −Σ p·ln p over `count` probabilities; zeros add nothing. NaN if one is NaN.
float entropyOf(const float* p, std::size_t count);

/// Computes the norms of core/activations.h over `count` numbers; m is the mean if `centred`, else 0. `bias`
/// may be null.
void normalize(const float* x, std::size_t count, const float* weight, const float* bias, double epsilon,
               bool centred, float* y);

}  // namespace headscope::attention::kernels

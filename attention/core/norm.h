#pragma once

#include <span>

namespace headscope::attention {

/// y = (x − m)/√(mean((x − m)²) + epsilon) ⊙ weight + bias, m the mean of x: layer norm (Ba, Kiros and Hinton
/// 2016). All of one size; y may be x. In double precision up to the weights.
void layerNorm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
               double epsilon, std::span<float> y);
/// The same with m = 0 and no bias: RMS norm (Zhang and Sennrich 2019).
void rmsNorm(std::span<const float> x, std::span<const float> weight, double epsilon, std::span<float> y);

}  // namespace headscope::attention

#pragma once

#include <span>

namespace headscope::attention {

/// Layer norm (Ba, Kiros and Hinton 2016): y = (x − m)/√(mean((x − m)²) + epsilon) ⊙ weight + bias, where m
/// is the mean of x. All have the same size; y may be x. In double precision up to the weights.
void layerNorm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
               double epsilon, std::span<float> y);
/// RMS norm (Zhang and Sennrich 2019): the same with m = 0 and no bias.
void rmsNorm(std::span<const float> x, std::span<const float> weight, double epsilon, std::span<float> y);

}  // namespace headscope::attention

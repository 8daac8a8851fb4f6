#include "attention/core/norm.h"

#include "attention/kernels/norm.h"

namespace headscope::attention {

void layerNorm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
               double epsilon, std::span<float> y) {
  kernels::normalize(x.data(), x.size(), weight.data(), bias.data(), epsilon, true, y.data());
}

void rmsNorm(std::span<const float> x, std::span<const float> weight, double epsilon, std::span<float> y) {
  kernels::normalize(x.data(), x.size(), weight.data(), nullptr, epsilon, false, y.data());
}

}  // namespace headscope::attention

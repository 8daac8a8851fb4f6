#include "attention/core/activation.h"

#include "attention/kernels/activation.h"

namespace headscope::attention {

void silu(std::span<float> x) {
  kernels::timesSigmoid(x.data(), x.size(), 1, 0);
}

void geluByTanh(std::span<float> x) {
  // (1 + tanh u)/2 = σ(2u).
  constexpr float kLinear = 1.595769122f;  // 2·√(2/π)
  kernels::timesSigmoid(x.data(), x.size(), kLinear, kLinear * 0.044715f);
}

}  // namespace headscope::attention

#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// −Σ p·ln p over `count` probabilities; what is 0 adds nothing. NaN where one is NaN.
float entropyOf(const float* p, std::size_t count);

}  // namespace headscope::attention::kernels

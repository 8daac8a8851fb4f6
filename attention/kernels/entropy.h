#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Returns −Σ p·ln p over `count` probabilities; zeros add nothing. NaN if one is NaN.
float entropyOf(const float* p, std::size_t count);

}  // namespace headscope::attention::kernels

#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Limits of an attention map: sequence length in tokens, head size, and the numbers of heads and layers.
inline constexpr Index kMaxMapTokens = 131'072;
inline constexpr Index kMaxMapHeadDim = 512;
inline constexpr Index kMaxMapHeads = 1024;
inline constexpr Index kMaxMapLayers = 4096;

}  // namespace headscope::attention

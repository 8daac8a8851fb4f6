#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// What a map of attention is drawn for at most: the longest sequences in tokens, the size of a head, and how
/// many there are to choose from.
inline constexpr Index kMaxMapTokens = 131'072;
inline constexpr Index kMaxMapHeadDim = 512;
inline constexpr Index kMaxMapHeads = 1024;
inline constexpr Index kMaxMapLayers = 4096;

}  // namespace headscope::attention

#pragma once

#include <cstddef>

#include "attention/core/map_limits.h"
#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;

inline constexpr Index kMaxStackLayers = 4;
inline constexpr Index kMaxHeads = 64;
inline constexpr Index kMaxHeadDim = 512;
inline constexpr Index kMaxModelDim = 4096;
inline constexpr Index kMaxTokens = 2048;
inline constexpr Index kMinMapTokens = 256;
using attention::kMaxMapLayers;
using attention::kMaxMapTokens;
inline constexpr Index kMaxLines = 64;
/// Maximum size of a text in a scene. The longest that can be shown has kMaxMapTokens tokens.
inline constexpr std::size_t kMaxTextBytes = std::size_t{4} << 20;
inline constexpr Index kMaxT5Buckets = 128;
inline constexpr Index kMaxReachLayers = 32;

}  // namespace headscope::app

#pragma once

#include "attention/core/projections.h"

namespace headscope::attention {

/// Orthonormal directions [modelDim, latentDim] of a token's vector that keys and values depend on most: the
/// first right singular vectors of both maps' weights, one above the other. x·P is the latent that a cache
/// keeps in place of keys and values, and the maps of x·P·Pᵀ are the nearest of that rank (Eckart & Young
/// 1936; latent attention: DeepSeek-AI 2024, DeepSeek-V2, section 2.1). Throws std::invalid_argument unless
/// latentDim is 1 to modelDim.
Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim);

}  // namespace headscope::attention

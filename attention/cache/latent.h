#pragma once

#include <stop_token>

#include "attention/core/projections.h"

namespace headscope::attention {

// Multi-head latent attention (MLA; DeepSeek-AI 2024, DeepSeek-V2, section 2.1) derived from a layer's
// existing maps, without further training. A token caches a latent instead of its keys and values and, if
// keys are rotated by position, one rotary key shared by all heads.

/// The maps from a token's input x [modelDim] to what it caches: x·latent, and (W_K·x + b)·rotary, rotated by
/// its position.
struct LatentMaps {
  Matrix latent;  ///< [modelDim, latentDim], columns orthonormal
  Matrix rotary;  ///< [kvHeads · headDim, rotaryDim], columns orthonormal; no columns = no rotation

  Index numbersPerToken() const { return latent.cols() + rotary.cols(); }
};

/// Returns orthonormal input directions P, [modelDim, latentDim], that preserve keys and values best: the
/// leading right singular vectors of both maps' weights, stacked. The maps of x·P·Pᵀ are the closest of that
/// rank (Eckart & Young 1936). Returns fewer columns if keys and values together have fewer than modelDim
/// outputs and fewer than latentDim independent ones. A few directions of a large matrix are found by
/// leadingEigen(), with a loss within a thousandth of the minimum; the result is [modelDim, 0] once `stop` is
/// requested. Otherwise the decomposition of the smaller side is exact and can't be stopped. Throws
/// std::invalid_argument unless latentDim is 1 to modelDim.
Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim,
                        const std::stop_token& stop = {});

/// Returns the widest latent that can be found within a few seconds if keys and values together have
/// `outputs` dimensions.
Index mostLatent(Index modelDim, Index outputs);

/// Returns the directions of all heads' keys that keep their rotation, [kvHeads · headDim, rotaryDim]. A pair
/// of dimensions (t, t + dims/2), seen as a complex number, is rotated by the same angle in every head, so a
/// complex sum over heads rotates in the same way and can be shared. Of all frequencies' principal sums,
/// takes those whose scores would change most without the rotation, on average over all pairs of `positions`;
/// after Ji et al. 2025 (MHA2MLA) and Meng et al. 2025 (TransMLA). `positions` [n, dims] has the cosines and
/// sines of each position, as returned by ropeTable() and rotationTable(). Throws std::invalid_argument
/// unless rotaryDim is even and 0 to kvHeads · dims.
Matrix rotaryDirections(const Linear& queries, const Linear& keys, Index kvHeads, Index headDim,
                        const Matrix& positions, Index rotaryDim);

/// Returns both maps. The latent represents what the rotary key leaves; `stop` as for latentDirections().
LatentMaps latentMaps(const Projections& layer, Index kvHeads, Index headDim, const Matrix& positions,
                      Index latentDim, Index rotaryDim, const std::stop_token& stop = {});

/// The keys and values reconstructed from what tokens x [m, modelDim] cache, [m, kvHeads · headDim] each. A
/// key is the sum of both parts, before rotation; only the rotary part is to be rotated.
struct LatentRead {
  Matrix plainKeys, rotaryKeys, values;
};
LatentRead readLatent(const LatentMaps& maps, const Projections& layer, const Matrix& x);

}  // namespace headscope::attention

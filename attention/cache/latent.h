#pragma once

#include <stop_token>

#include "attention/core/projections.h"

namespace headscope::attention {

// Multi-head latent attention (MLA; DeepSeek-AI 2024, DeepSeek-V2, section 2.1) made of the maps that a layer
// has, and not trained since. A token caches a latent in place of its keys and values and, where positions
// turn keys, one rotary key that all heads share.

/// What a token of input x [modelDim] caches: x·latent, and (W_K·x + b)·rotary, turned by its position.
struct LatentMaps {
  Matrix latent;  ///< [modelDim, latentDim], columns orthonormal
  Matrix rotary;  ///< [kvHeads · headDim, rotaryDim], columns orthonormal; without columns nothing is turned

  Index numbersPerToken() const { return latent.cols() + rotary.cols(); }
};

/// Orthonormal directions of the input, [modelDim, latentDim], from which keys and values lose least: the
/// first right singular vectors of both maps' weights, one above the other, whose maps of x·P·Pᵀ are the
/// nearest of that rank (Eckart & Young 1936). Fewer columns where keys and values together have fewer
/// independent outputs than modelDim and that is all of them. Few of many are found by leadingEigen(), within
/// a thousandth of what the best leave out, and nothing ([modelDim, 0]) once `stop` is requested; else the
/// decomposition of the smaller side is exact and isn't stopped. Throws std::invalid_argument unless
/// latentDim is 1 to modelDim.
Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim,
                        const std::stop_token& stop = {});

/// The widest latent that is found within some seconds where keys and values together have `outputs`
/// dimensions.
Index mostLatent(Index modelDim, Index outputs);

/// Directions of the keys of all heads, [kvHeads · headDim, rotaryDim], that keep their rotation: a pair of
/// dimensions (t, t + dims/2) taken as a complex number is turned by the same angle in every head, so that
/// any complex sum over heads is turned like one of them and can be shared. Of each frequency's principal
/// sums those are taken whose scores would change most without the rotation, on average over all pairs of
/// `positions`; after Ji et al. 2025 (MHA2MLA) and Meng et al. 2025 (TransMLA).
/// `positions` [n, dims] has the cosines and sines of each position, as ropeTable() and rotationTable() give
/// them. Throws std::invalid_argument unless rotaryDim is even and 0 to kvHeads · dims.
Matrix rotaryDirections(const Linear& queries, const Linear& keys, Index kvHeads, Index headDim,
                        const Matrix& positions, Index rotaryDim);

/// Both: the latent has what the rotary key leaves; it has no columns once `stop` is requested.
LatentMaps latentMaps(const Projections& layer, Index kvHeads, Index headDim, const Matrix& positions,
                      Index latentDim, Index rotaryDim, const std::stop_token& stop = {});

/// Keys and values as they come out of what tokens x [m, modelDim] cache, [m, kvHeads · headDim] each. A key
/// is the sum of both parts; neither is turned yet, and the first never is.
struct LatentRead {
  Matrix plainKeys, rotaryKeys, values;
};
LatentRead readLatent(const LatentMaps& maps, const Projections& layer, const Matrix& x);

}  // namespace headscope::attention

#pragma once

#include <stop_token>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// What a product of two of a head's maps does, A·Bᵀ with A and B [modelDim, headDim]: at most headDim
/// directions.
struct Spectrum {
  std::vector<double> singular;  ///< min(headDim, modelDim) of them, descending
  /// How many are above largest · max(sizes) · epsilon of double, as NumPy's matrix_rank counts: the maps are
  /// taken as they are given, and all that follows is double.
  Index rank = 0;
};

/// Of A·Bᵀ, without making the product: by thin QR of both. W_Q·W_Kᵀ says which directions of the stream meet
/// (Elhage et al. 2021, "QK circuit"). Throws std::invalid_argument where the shapes differ.
Spectrum productSpectrum(const Matrix& a, const Matrix& b);

/// How far a head copies what it reads: Σ Re λ / Σ |λ| over the eigenvalues of W_V·W_O (Elhage et al. 2021,
/// "OV circuit"): 1 where all are positive, −1 where all are negative, 0 where there are none. `v` and `o`
/// are [modelDim, headDim], x·v·oᵀ being what the head writes. The eigenvalues are those of oᵀ·v, which is
/// small.
double copyingScore(const Matrix& v, const Matrix& o);

/// A·Bᵀ pooled by the number farthest from 0 into at most `cells` × `cells`, a few rows at a time.
/// Once `stop` is requested the result is incomplete.
Matrix productPicture(const Matrix& a, const Matrix& b, Index cells, std::stop_token stop = {});

}  // namespace headscope::attention

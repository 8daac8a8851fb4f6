#pragma once

#include <stop_token>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The singular values of a product of two of a head's maps, A·Bᵀ with A and B [modelDim, headDim].
struct Spectrum {
  std::vector<double> singular;  ///< min(headDim, modelDim) values, descending
  /// The number of values above largest · max(sizes) · epsilon of double, like NumPy's matrix_rank: the maps
  /// are taken as exact, and everything is computed in double.
  Index rank = 0;
};

/// Returns the spectrum of A·Bᵀ by thin QR of both, without computing the product. W_Q·W_Kᵀ determines which
/// directions of the residual stream a head compares (Elhage et al. 2021, "QK circuit"). Throws
/// std::invalid_argument if the shapes differ.
Spectrum productSpectrum(const Matrix& a, const Matrix& b);

/// Returns how much a head copies what it reads: Σ Re λ / Σ |λ| over the eigenvalues of W_V·W_O (Elhage et
/// al. 2021, "OV circuit"): 1 if all are positive, −1 if all are negative, 0 if all are 0 or a map isn't
/// finite. `v` and `o` are [modelDim, headDim]; the head writes x·v·oᵀ. Uses the small product oᵀ·v, which
/// has the same nonzero eigenvalues. Throws std::invalid_argument if the shapes differ.
double copyingScore(const Matrix& v, const Matrix& o);

/// Returns A·Bᵀ pooled by the value farthest from 0 into at most `cells` × `cells`, computed a few rows at a
/// time. Incomplete once `stop` is requested. Throws std::invalid_argument if the shapes differ.
Matrix productPicture(const Matrix& a, const Matrix& b, Index cells, std::stop_token stop = {});

}  // namespace headscope::attention

#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// One head's scores at each step before the mask. AttentionResult has the later steps: masked scores,
/// weights and the head's output.
struct HeadSteps {
  Matrix dots;       ///< [n, m] Q·Kᵀ
  float factor = 1;  ///< scale · sharpness; dots · factor are the scaled scores
  Matrix biased;     ///< [n, m] with position biases, soft-cap and additive mask; empty if there are none

  /// Returns the score of a cell before masking.
  float unmasked(Index query, Index key) const {
    return biased.size() ? biased(query, key) : dots(query, key) * factor;
  }
};

/// Computes the steps from the queries and keys in `result`. Throws std::invalid_argument if `head` is
/// outside the result.
HeadSteps headSteps(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                    Index head);

/// Pools a matrix into at most `rows` × `cols` nearly equal parts by the value farthest from 0, so that large
/// values stay visible. Any finite value takes precedence over ±inf and NaN.
Matrix poolByMagnitude(const Eigen::Ref<const Matrix>& values, Index rows, Index cols);

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

/// One product of a sum.
struct SumTerm {
  Index at = 0;  ///< index in both factors
  float a = 0, b = 0;
  double product = 0;
  double running = 0;  ///< Σ of the listed products up to this one
};

/// Σ a[c]·b[c], written out up to a maximum number of terms.
struct WorkedSum {
  std::vector<SumTerm> terms;  ///< by index; if some are omitted, only the largest by magnitude that aren't 0
  Index omitted = 0;
  double rest = 0;             ///< Σ of the omitted products
  bool nothingOmitted = true;  ///< all omitted products are 0
  double total = 0;            ///< Σ of all products, in double precision
};

/// Lists at most `most` products. Throws std::invalid_argument if a and b differ in length.
WorkedSum workedSum(std::span<const float> a, std::span<const float> b, std::size_t most);

}  // namespace headscope::attention

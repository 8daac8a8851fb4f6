#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/attention.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

// Alternative views of a head's weights [n, m]. Rows without visible keys stay 0.

/// Returns ‖v_j W_O‖ for every key, [m]: how much a head writes for it. v is [m, headDim]; o [modelDim,
/// headDim] has the head's columns of W_O. Throws std::invalid_argument if headDim differs.
Vector writtenNorms(const MatrixView& v, const Eigen::Ref<const Matrix>& o);

/// Returns A[i][j]·norms[j] with rows renormalised to sum to 1, or 0 if nothing is left: how much each key
/// contributes to the output (Kobayashi et al. 2020, "Attention is not only a weight", eq. 6, without the
/// residual). norms is [m]; throws std::invalid_argument otherwise.
Matrix valueWeighted(const MatrixView& weights, const Vector& norms);

/// Returns the weights with the first key's column set to 0 and rows renormalised to sum to 1; a row without
/// other weight is 0.
Matrix withoutFirst(const MatrixView& weights);

/// The mean and the maximum over the heads of [heads, n, m], cell by cell.
Matrix meanOverHeads(const Stack& weights);
Matrix maxOverHeads(const Stack& weights);

/// Attention rollout (Abnar & Zuidema 2020, "Quantifying attention flow in transformers", section 3): how
/// much of a token's state after some layers comes from each token of the text. It is the product of the
/// layers' steps, the last layer's leftmost, and ignores values, norms and MLPs. A step is ½A + ½I, where A
/// is the mean of the heads' weights, with rows renormalised to sum to 1; a row that sees no key keeps its
/// own token. Add layers from the first on.
class Rollout {
 public:
  /// Adds a layer's weights [heads, n, n]. Throws std::invalid_argument unless there are as many queries as
  /// keys, in all layers.
  void add(const Stack& weights);
  /// [n, n], rows sum to 1; empty before the first layer.
  const Matrix& matrix() const { return matrix_; }

 private:
  Matrix matrix_;
};

/// The heads' outputs and how W_O combines them.
struct HeadMixing {
  const Stack& headOutput;                       ///< [heads, n, headDim]
  const std::function<Matrix(Index)> outputMap;  ///< returns a head's columns of W_O, [modelDim, headDim]
  const Vector& bias;                            ///< [modelDim]; empty = none
  const Matrix& output;                          ///< [n, modelDim] with every head on
  Index rows = 0;                                ///< number of tokens; further rows are padding
};

/// The contribution of each head to the output of attention. Since output = Σ_h head_h·W_O[h] + bias, each
/// head's share head_h·W_O[h] is exact (Elhage et al. 2021, "A Mathematical Framework for Transformer
/// Circuits").
struct HeadShares {
  Matrix amount;  ///< [heads, n] ‖share‖
  Matrix cosine;  ///< [heads, n] between share and output; 0 if either is 0
  /// [heads, n] share·output / ‖output‖²: the share's part of the output's length. Together with the bias's
  /// part they add up to 1 unless the output is 0.
  Matrix part;
  Vector biasAmount, biasCosine, biasPart;  ///< [n]
  Vector whole;                             ///< [n] ‖output‖
  /// [heads, n] ‖Δoutput‖ / ‖output‖ if only this head is ablated: its output set to zero, or to its mean
  /// over the tokens. 0 if the output is 0.
  Matrix byZero, byMean;
  double gap = 0;      ///< the largest |Σ shares + bias − output|
  double largest = 0;  ///< the largest |output|, to compare `gap` with
};

/// Throws std::invalid_argument if shapes don't fit. Incomplete once `stop` is requested.
HeadShares headShares(const HeadMixing& mixing, std::stop_token stop = {});

/// Returns ‖after − before‖ / ‖before‖ of each row, [n]; 0 if `before` is 0. Throws std::invalid_argument if
/// the shapes differ.
Vector rowChanges(const Matrix& before, const Matrix& after);

}  // namespace headscope::attention

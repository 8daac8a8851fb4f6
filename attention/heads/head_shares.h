#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/head_switch.h"

namespace headscope::attention {

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

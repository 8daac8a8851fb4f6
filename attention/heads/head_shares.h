#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/head_switch.h"

namespace headscope::attention {

/// What heads were computed to, and how W_O puts them together.
struct HeadMixing {
  const Stack& headOutput;                       ///< [heads, n, headDim]
  const std::function<Matrix(Index)> outputMap;  ///< of a head: its columns of W_O, [modelDim, headDim]
  const Vector& bias;                            ///< [modelDim], or empty for none
  const Matrix& output;                          ///< [n, modelDim] with every head on
  Index rows = 0;                                ///< of them so many are tokens, the rest is padding
};

/// What each head adds to the output of attention: output = Σ_h head_h·W_O[h] + bias, so that each head's
/// share head_h·W_O[h] is exact (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
struct HeadShares {
  Matrix amount;  ///< [heads, n] ‖share‖
  Matrix cosine;  ///< [heads, n] of share and output; 0 where one of them is 0
  /// [heads, n] share·output / ‖output‖²: how much of the output's own length it makes. With the bias's these
  /// add up to 1 wherever the output is not 0.
  Matrix part;
  Vector biasAmount, biasCosine, biasPart;  ///< [n]
  Vector whole;                             ///< [n] ‖output‖
  /// [heads, n] ‖Δoutput‖ / ‖output‖ when this head alone is switched off: its output zero, or its mean over
  /// the tokens. 0 where the output is 0.
  Matrix byZero, byMean;
  double gap = 0;      ///< the largest |Σ shares + bias − output|
  double largest = 0;  ///< the largest |output|, which `gap` is small beside
};

/// Throws std::invalid_argument where shapes don't fit. Incomplete once `stop` is requested.
HeadShares headShares(const HeadMixing& mixing, std::stop_token stop = {});

/// ‖after − before‖ / ‖before‖ of each row, [n]; 0 where `before` is 0.
Vector rowChanges(const Matrix& before, const Matrix& after);

}  // namespace headscope::attention

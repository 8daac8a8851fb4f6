#pragma once

#include <cstdint>
#include <stop_token>

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// One linear map as torch.nn.Linear keeps it: y = x·Wᵀ + b.
struct Linear {
  Matrix weight;  ///< [out, in]
  Vector bias;    ///< [out], or empty for none

  /// x [n, in] to [n, out].
  /// Once `stop` is requested the result is undefined.
  Matrix apply(const Eigen::Ref<const Matrix>& x, std::stop_token stop = {}) const;
};

/// Throws std::invalid_argument, naming both shapes, unless x is as wide as the map takes.
void requireInput(const Linear& linear, const Eigen::Ref<const Matrix>& x);

/// The four maps of an attention layer.
struct Projections {
  Linear q;  ///< [heads · headDim, modelDim]
  Linear k;  ///< [kvHeads · headDim, modelDim]
  Linear v;  ///< [kvHeads · headDim, modelDim]
  Linear o;  ///< [modelDim, heads · headDim]
};

/// Xavier-uniform weights (Glorot & Bengio 2010), the limit √(6/(in+out)) per projection, from a
/// generator of our own so that a seed gives the same numbers on every machine. With `bias`,
/// biases are drawn uniformly within ±1/√in, so that they are seen to act.
Projections xavierProjections(const AttentionConfig& config, bool bias, std::uint64_t seed);

/// Throws std::invalid_argument naming the projection and both shapes unless all four fit `config`.
void requireProjectionShapes(const AttentionConfig& config, const Projections& projections);

}  // namespace headscope::attention

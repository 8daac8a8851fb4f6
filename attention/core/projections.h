#pragma once

#include <cstdint>
#include <stop_token>

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// A linear map y = x·Wᵀ + b, laid out like torch.nn.Linear.
struct Linear {
  Matrix weight;  ///< [out, in]
  Vector bias;    ///< [out]; empty = none

  /// Maps x [n, in] to [n, out]. Undefined once `stop` is requested. Throws like requireInput().
  Matrix apply(const Eigen::Ref<const Matrix>& x, std::stop_token stop = {}) const;
};

/// Throws std::invalid_argument, naming both shapes, unless x has the map's input width.
void requireInput(const Linear& linear, const Eigen::Ref<const Matrix>& x);

/// The four maps of an attention layer.
struct Projections {
  Linear q;  ///< [heads · headDim, modelDim]
  Linear k;  ///< [kvHeads · headDim, modelDim]
  Linear v;  ///< [kvHeads · headDim, modelDim]
  Linear o;  ///< [modelDim, heads · headDim]
};

/// Returns Xavier-uniform weights (Glorot & Bengio 2010) with limit √(6/(in+out)) per projection, drawn by
/// our generator so that a seed gives the same numbers on every machine. With `bias`, biases are drawn
/// uniformly within ±1/√in, so that their effect is visible.
Projections xavierProjections(const AttentionConfig& config, bool bias, std::uint64_t seed);

/// Throws std::invalid_argument naming the projection and both shapes unless all four fit `config`.
void requireProjectionShapes(const AttentionConfig& config, const Projections& projections);

}  // namespace headscope::attention

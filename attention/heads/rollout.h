#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the matrix of one layer in attention rollout (Abnar & Zuidema 2020, "Quantifying attention flow in
/// transformers", section 3), [n, n]: ½A + ½I, where A is the mean of the heads' weights [heads, n, n], with
/// rows renormalised to sum to 1. A row that sees no key keeps its own token. Throws std::invalid_argument
/// unless there are as many queries as keys.
Matrix rolloutStep(const Stack& weights);

/// Attention rollout: how much of a token's state after some layers comes from each token of the text. It is
/// the product of the layers' steps, the last layer's leftmost, and ignores values, norms and MLPs. Add
/// layers from the first on.
class Rollout {
 public:
  /// Adds a layer's weights [heads, n, n]. Throws std::invalid_argument if n differs between layers.
  void add(const Stack& weights);
  /// [n, n], rows sum to 1; empty before the first layer.
  const Matrix& matrix() const { return matrix_; }

 private:
  Matrix matrix_;
};

}  // namespace headscope::attention

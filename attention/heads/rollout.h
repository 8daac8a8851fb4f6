#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// One layer as attention rollout takes it (Abnar & Zuidema 2020, "Quantifying attention flow in
/// transformers", section 3): ½A + ½I with A the mean of the heads' weights [heads, n, n], rows summing to 1
/// again; a row that sees nothing keeps its own token. [n, n].
Matrix rolloutStep(const Stack& weights);

/// How much of what a token holds after some layers comes from each token of the text, as rollout reckons it:
/// the product of their steps, the last layer's at the left. It knows nothing of values, norms and MLPs.
/// Layers go in from the first on.
class Rollout {
 public:
  /// weights [heads, n, n], the same n for all layers; throws std::invalid_argument where it differs.
  void add(const Stack& weights);
  /// [n, n], rows sum to 1; empty before the first layer.
  const Matrix& matrix() const { return matrix_; }

 private:
  Matrix matrix_;
};

}  // namespace headscope::attention

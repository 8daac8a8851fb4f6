#include "attention/heads/rollout.h"

#include <fmt/core.h>

#include "attention/core/result.h"
#include "attention/heads/head_views.h"

namespace headscope::attention {

Matrix rolloutStep(const Stack& weights) {
  require(weights.rows() == weights.cols(),
          fmt::format("rollout of weights {} × {}, expected as many queries as keys", weights.rows(),
                      weights.cols()));
  Matrix step = 0.5f * meanOverHeads(weights);
  step.diagonal().array() += 0.5f;
  for (Index row = 0; row < step.rows(); ++row) step.row(row) /= step.row(row).sum();
  return step;
}

void Rollout::add(const Stack& weights) {
  Matrix step = rolloutStep(weights);
  require(matrix_.size() == 0 || matrix_.rows() == step.rows(),
          fmt::format("rollout of {} tokens continues with {}", matrix_.rows(), step.rows()));
  matrix_ = matrix_.size() == 0 ? std::move(step) : Matrix(step * matrix_);
}

}  // namespace headscope::attention

#include "attention/heads/head_steps.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "attention/core/products.h"

namespace headscope::attention {

HeadSteps headSteps(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                    Index head) {
  if (head < 0 || head >= result.q.count())
    throw std::invalid_argument("head " + std::to_string(head) + " of " + std::to_string(result.q.count()));
  HeadSteps steps;
  const MatrixView q = result.q[head], k = result.k[config.kvHeadOf(head)];
  steps.dots = timesTransposed(q, k);
  const HeadTerms terms = headTerms(config, mask, head, q.rows(), k.rows());
  steps.factor = terms.factor;
  if (terms.bias.empty() && terms.cap == 0 && !terms.added) return steps;
  steps.biased = steps.dots * terms.factor;
  const auto add = [&](Index row, const float* values) {
    if (values) steps.biased.row(row) += Eigen::Map<const Eigen::RowVectorXf>(values, terms.keys);
  };
  for (Index row = 0; row < terms.queries; ++row) {
    add(row, terms.biasOf(row));
    if (terms.cap != 0)
      steps.biased.row(row) = terms.cap * (steps.biased.row(row).array() / terms.cap).tanh();
    add(row, terms.addedOf(row));
  }
  return steps;
}

Matrix poolByMagnitude(const Eigen::Ref<const Matrix>& values, Index rows, Index cols) {
  const Index n = values.rows(), m = values.cols();
  if (n <= rows && m <= cols) return values;
  rows = std::clamp<Index>(rows, 1, std::max<Index>(n, 1));
  cols = std::clamp<Index>(cols, 1, std::max<Index>(m, 1));
  Matrix pooled(n ? rows : 0, m ? cols : 0);
  for (Index row = 0; row < pooled.rows(); ++row)
    for (Index col = 0; col < pooled.cols(); ++col) {
      const Index top = row * n / rows, left = col * m / cols;
      float farthest = values(top, left);
      for (Index i = top; i < (row + 1) * n / rows; ++i)
        for (Index j = left; j < (col + 1) * m / cols; ++j) {
          const float value = values(i, j);
          if (std::isfinite(value) && (!std::isfinite(farthest) || std::abs(value) > std::abs(farthest)))
            farthest = value;
        }
      pooled(row, col) = farthest;
    }
  return pooled;
}

}  // namespace headscope::attention

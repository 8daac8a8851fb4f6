#include "attention/heads/head_views.h"

#include <algorithm>
#include <cmath>

#include "attention/core/extremes.h"
#include "attention/core/products.h"
#include "attention/core/result.h"

namespace headscope::attention {

namespace {

/// Smaller row sums are rounding errors.
constexpr float kNothing = 1e-6f;

void renormalise(Matrix& weights) {
  for (Index row = 0; row < weights.rows(); ++row) {
    const float sum = weights.row(row).sum();
    if (sum > kNothing)
      weights.row(row) /= sum;
    else
      weights.row(row).setZero();
  }
}

}  // namespace

Vector writtenNorms(const MatrixView& v, const Eigen::Ref<const Matrix>& o) {
  require(v.cols() == o.cols(), "values of " + shapeText(v.rows(), v.cols()) + " through a map of " +
                                    shapeText(o.rows(), o.cols()));
  // ‖v·oᵀ‖² = v·(oᵀ·o)·vᵀ avoids the long rows of v·oᵀ.
  const Eigen::MatrixXd gram = gramInDouble(o.cast<double>());
  Vector norms(v.rows());
  for (Index key = 0; key < v.rows(); ++key) {
    const Eigen::RowVectorXd value = v.row(key).cast<double>();
    norms[key] = static_cast<float>(std::sqrt(larger(0.0, (value * gram).dot(value))));
  }
  return norms;
}

Matrix valueWeighted(const MatrixView& weights, const Vector& norms) {
  require(weights.cols() == norms.size(), "weights of " + shapeText(weights.rows(), weights.cols()) +
                                              " over " + std::to_string(norms.size()) + " values");
  // Divides by the largest norm, so that the scale of the values doesn't matter.
  const float most = largestFinite(norms);
  Matrix out = weights;
  out.array().rowwise() *= (norms / (most > 0 ? most : 1)).transpose().array();
  renormalise(out);
  return out;
}

Matrix withoutFirst(const MatrixView& weights) {
  Matrix out = weights;
  if (out.cols() > 0) out.col(0).setZero();
  renormalise(out);
  return out;
}

Matrix meanOverHeads(const Stack& weights) {
  Matrix sum = Matrix::Zero(weights.rows(), weights.cols());
  for (Index head = 0; head < weights.count(); ++head) sum += weights[head];
  return weights.count() ? Matrix(sum / static_cast<float>(weights.count())) : sum;
}

Matrix maxOverHeads(const Stack& weights) {
  Matrix most = Matrix::Zero(weights.rows(), weights.cols());
  for (Index head = 0; head < weights.count(); ++head) most = most.cwiseMax(weights[head]);
  return most;
}

}  // namespace headscope::attention

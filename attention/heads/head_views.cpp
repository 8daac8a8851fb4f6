#include "attention/heads/head_views.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/core/extremes.h"

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

void Rollout::add(const Stack& weights) {
  require(weights.rows() == weights.cols(),
          fmt::format("rollout of weights {} × {}, expected as many queries as keys", weights.rows(),
                      weights.cols()));
  require(matrix_.size() == 0 || matrix_.rows() == weights.rows(),
          fmt::format("rollout of {} tokens continues with {}", matrix_.rows(), weights.rows()));
  Matrix step = 0.5f * meanOverHeads(weights);
  step.diagonal().array() += 0.5f;
  for (Index row = 0; row < step.rows(); ++row) step.row(row) /= step.row(row).sum();
  matrix_ = matrix_.size() == 0 ? std::move(step) : Matrix(step * matrix_);
}

namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

}  // namespace

HeadShares headShares(const HeadMixing& mixing, std::stop_token stop) {
  const Index heads = mixing.headOutput.count(), n = mixing.headOutput.rows();
  const Index dim = mixing.output.cols();
  require(mixing.output.rows() == n, "the output is " + shapeText(mixing.output.rows(), dim) +
                                         ", the heads' outputs have " + std::to_string(n) + " rows");
  require(
      mixing.bias.size() == 0 || mixing.bias.size() == dim,
      "the bias has " + std::to_string(mixing.bias.size()) + " numbers, the output " + std::to_string(dim));
  require(mixing.rows >= 0 && mixing.rows <= n, "more tokens than rows");
  HeadShares shares;
  shares.amount = shares.cosine = shares.part = shares.byZero = shares.byMean = Matrix::Zero(heads, n);
  const Doubles output = mixing.output.cast<double>();
  const Eigen::VectorXd whole = output.rowwise().norm();
  Doubles sum = Doubles::Zero(n, dim);
  for (Index head = 0; head < heads && !stop.stop_requested(); ++head) {
    const Matrix map = mixing.outputMap(head);
    require(map.rows() == dim && map.cols() == mixing.headOutput.cols(),
            "a head's part of W_O is " + shapeText(map.rows(), map.cols()) + ", expected " +
                shapeText(dim, mixing.headOutput.cols()));
    const Doubles share = timesTransposed(mixing.headOutput[head], map, stop).cast<double>();
    sum += share;
    const Eigen::RowVectorXd mean = mixing.rows > 0
                                        ? Eigen::RowVectorXd(share.topRows(mixing.rows).colwise().mean())
                                        : Eigen::RowVectorXd::Zero(dim);
    for (Index i = 0; i < n; ++i) {
      const double amount = share.row(i).norm(), along = share.row(i).dot(output.row(i));
      shares.amount(head, i) = static_cast<float>(amount);
      shares.cosine(head, i) = static_cast<float>(ratio(along, amount * whole[i]));
      shares.part(head, i) = static_cast<float>(ratio(along, whole[i] * whole[i]));
      shares.byZero(head, i) = static_cast<float>(ratio(amount, whole[i]));
      shares.byMean(head, i) = static_cast<float>(ratio((share.row(i) - mean).norm(), whole[i]));
    }
  }
  const Eigen::RowVectorXd bias = mixing.bias.size()
                                      ? Eigen::RowVectorXd(mixing.bias.transpose().cast<double>())
                                      : Eigen::RowVectorXd::Zero(dim);
  sum.rowwise() += bias;
  shares.biasAmount = Vector::Constant(n, static_cast<float>(bias.norm()));
  shares.biasCosine = shares.biasPart = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) {
    const double along = bias.dot(output.row(i));
    shares.biasCosine[i] = static_cast<float>(ratio(along, bias.norm() * whole[i]));
    shares.biasPart[i] = static_cast<float>(ratio(along, whole[i] * whole[i]));
  }
  shares.whole = whole.cast<float>();
  if (output.size() > 0) {
    shares.gap = largestMagnitude(sum - output);
    shares.largest = largestMagnitude(output);
  }
  return shares;
}

Vector rowChanges(const Matrix& before, const Matrix& after) {
  require(before.rows() == after.rows() && before.cols() == after.cols(),
          "two outputs of different shapes were compared: " + shapeText(before.rows(), before.cols()) +
              " and " + shapeText(after.rows(), after.cols()));
  Vector changes(before.rows());
  for (Index i = 0; i < before.rows(); ++i)
    changes[i] = static_cast<float>(
        ratio((after.row(i) - before.row(i)).cast<double>().norm(), before.row(i).cast<double>().norm()));
  return changes;
}

}  // namespace headscope::attention

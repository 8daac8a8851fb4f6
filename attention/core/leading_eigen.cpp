#include <fmt/core.h>

#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/core/random.h"
#include "attention/core/result.h"
#include "attention/kernels/gemm.h"

namespace headscope::attention {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxRounds = 24, kMaxDegree = 8;
/// How much more a filter may amplify the first vector than the last; single precision has seven digits.
constexpr double kMaxSpread = 1e4;
/// Iteration ends when a round adds less than this share of the unexplained trace.
constexpr double kLittle = 1e-4;

/// Returns a·bᵀ, made symmetric, for two sets of row vectors [count, side].
MatrixXd productsOf(const Matrix& a, const Matrix& b, const std::stop_token& stop) {
  const MatrixXd all = timesTransposed(a, b, stop).cast<double>();
  return 0.5 * (all + all.transpose());
}

/// Returns turnᵀ·rows: the rows combined by the columns of `turn`.
Matrix turned(const MatrixXd& turn, const Matrix& rows, const std::stop_token& stop) {
  return product(Matrix(turn.transpose().cast<float>()), rows, stop);
}

/// Orthonormalises the rows by the eigenvectors of their products, twice: the first pass leaves rounding
/// errors in rows that were nearly dependent.
void orthonormalize(Matrix& rows, const std::stop_token& stop) {
  for (int round = 0; round < 2 && !stop.stop_requested(); ++round) {
    for (Index i = 0; i < rows.rows(); ++i)
      if (const float length = rows.row(i).norm(); length > 0) rows.row(i) /= length;
    const SymmetricEigen solved = symmetricEigen(productsOf(rows, rows, stop));
    const double least = std::max(solved.values.maxCoeff() * 1e-7, 1e-30);
    rows = turned(solved.vectors * solved.values.cwiseMax(least).cwiseSqrt().cwiseInverse().asDiagonal(),
                  rows, stop);
  }
}

/// Turns the rows into the best eigenvectors in their span (Rayleigh-Ritz). Returns their values, descending.
VectorXd bestOf(const Matrix& gram, Matrix& rows, const std::stop_token& stop) {
  const SymmetricEigen solved = symmetricEigen(productsOf(timesTransposed(rows, gram, stop), rows, stop));
  rows = turned(solved.vectors.rowwise().reverse(), rows, stop);
  return solved.values.reverse();
}

/// Returns the largest degree whose polynomial stays within kMaxSpread.
int degreeFor(double largest, double smallest) {
  const double at = std::acosh(2 * largest / smallest - 1);
  int degree = 1;
  while (degree < kMaxDegree && std::cosh((degree + 1) * at) <= kMaxSpread) ++degree;
  return degree;
}

/// Applies a Chebyshev polynomial of the matrix that is small from 0 to `end` and about 1 at `largest`.
void filter(const Matrix& gram, Matrix& rows, double largest, double end, const std::stop_token& stop) {
  const double middle = end / 2;
  const double first = middle / (largest - middle);
  double sigma = first;
  const auto step = [&](const Matrix& x, double factor) {
    Matrix y = timesTransposed(x, gram, stop);
    y = static_cast<float>(factor) * (y - static_cast<float>(middle) * x);
    return y;
  };
  Matrix next = step(rows, first / middle);
  for (int degree = degreeFor(largest, end); degree > 1 && !stop.stop_requested(); --degree) {
    const double after = 1 / (2 / first - sigma);
    Matrix beyond = step(next, 2 * after / middle);
    beyond -= static_cast<float>(sigma * after) * rows;
    rows = std::move(next);
    next = std::move(beyond);
    sigma = after;
  }
  rows = std::move(next);
}

}  // namespace

Index leadingBlock(Index count, Index side) {
  return std::min(side, count + std::max<Index>(8, count / 8));
}

std::optional<LeadingEigen> leadingEigen(const Matrix& gram, Index count, const std::stop_token& stop) {
  const Index side = gram.rows();
  require(gram.cols() == side && count >= 1 && count <= side,
          fmt::format("{} eigenvectors were requested of a {} × {} matrix", count, side, gram.cols()));
  Random random(1);
  Matrix rows(leadingBlock(count, side), side);
  for (Index i = 0; i < rows.size(); ++i) rows.data()[i] = random.gaussian();
  rows = timesTransposed(rows, gram, stop);
  orthonormalize(rows, stop);
  VectorXd values = bestOf(gram, rows, stop);
  const double trace = gram.diagonal().cast<double>().sum();
  double held = values.head(count).sum();
  for (int round = 0; round < kMaxRounds && rows.rows() < side && !stop.stop_requested(); ++round) {
    const double largest = values(0), end = values(values.size() - 1);
    if (!(end > largest * 1e-6)) break;  // the block spans the whole range of the matrix
    filter(gram, rows, largest, end, stop);
    orthonormalize(rows, stop);
    values = bestOf(gram, rows, stop);
    const double now = values.head(count).sum();
    if (now - std::exchange(held, now) <= kLittle * std::max(trace - now, 1e-6 * trace)) break;
  }
  if (stop.stop_requested()) return std::nullopt;
  return LeadingEigen{values.head(count), rows.topRows(count)};
}

namespace {

void requireInner(Index left, Index right) {
  require(left == right, fmt::format("{} columns times {} rows", left, right));
}

Matrix multiplied(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& w, bool transposed,
                  const std::stop_token& stop) {
  const Index out = transposed ? w.cols() : w.rows();
  requireInner(x.cols(), transposed ? w.rows() : w.cols());
  Matrix y = Matrix::Zero(x.rows(), out);
  if (y.size() == 0 || x.cols() == 0) return y;
  const kernels::LinearMap map{.weight = w.data(),
                               .out = asSize(out),
                               .y = {y.data(), asSize(out), asSize(out), 0},
                               .transposed = transposed,
                               .weightRow = asSize(w.outerStride())};
  kernels::applyMaps(kernels::sharedPool(), asSize(x.rows()), asSize(x.cols()),
                     {x.data(), asSize(x.outerStride()), asSize(x.cols()), 0}, {&map, 1}, stop);
  return y;
}

}  // namespace

Matrix product(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& y,
               const std::stop_token& stop) {
  return multiplied(x, y, true, stop);
}

Matrix timesTransposed(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& w,
                       const std::stop_token& stop) {
  return multiplied(x, w, false, stop);
}

Eigen::MatrixXd productInDouble(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  requireInner(a.cols(), b.rows());
  return a * b;
}

Eigen::MatrixXd gramInDouble(const Eigen::MatrixXd& a) {
  return productInDouble(a.transpose(), a);
}

}  // namespace headscope::attention

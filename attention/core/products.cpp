#include "attention/core/products.h"

#include <fmt/core.h>

#include "attention/core/result.h"
#include "attention/kernels/gemm.h"

namespace headscope::attention {

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

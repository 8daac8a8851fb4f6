#include "attention/core/extremes.h"

#include <fmt/core.h>

#include "attention/kernels/score_rows.h"

namespace headscope::attention {

void maxPool(const Eigen::Ref<const Matrix>& values, Index factor, Eigen::Ref<Matrix> out) {
  const Index rows = values.rows(), cols = values.cols();
  if (factor < 1 || out.rows() != pooledSize(rows, factor) || out.cols() != pooledSize(cols, factor))
    throw std::invalid_argument(
        fmt::format("max-pooling [{}, {}] by {} into [{}, {}]", rows, cols, factor, out.rows(), out.cols()));
  if (factor == 1) {
    out = values;
    return;
  }
  for (Index row = 0; row < out.rows(); ++row) {
    const Index first = row * factor;
    kernels::poolRows(values.row(first).data(), asSize(values.outerStride()),
                      asSize(std::min(factor, rows - first)), asSize(cols), asSize(factor),
                      out.row(row).data());
  }
}

Matrix maxPooled(const Eigen::Ref<const Matrix>& values, Index factor) {
  Matrix out(pooledSize(values.rows(), factor), pooledSize(values.cols(), factor));
  maxPool(values, factor, out);
  return out;
}

}  // namespace headscope::attention

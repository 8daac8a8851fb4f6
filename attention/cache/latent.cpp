#include "attention/cache/latent.h"

#include <fmt/core.h>

#include "attention/core/decompositions.h"
#include "attention/core/result.h"

namespace headscope::attention {

Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim) {
  const Index d = keys.weight.cols();
  require(values.weight.cols() == d,
          fmt::format("keys are made of {} dimensions and values of {}", d, values.weight.cols()));
  require(latentDim >= 1 && latentDim <= d,
          fmt::format("a latent of {} dimensions, expected 1 to {}", latentDim, d));
  // Right singular vectors of W are eigenvectors of WᵀW, ascending by their values.
  const Eigen::MatrixXd k = keys.weight.cast<double>(), v = values.weight.cast<double>();
  const SymmetricEigen solved = symmetricEigen(k.transpose() * k + v.transpose() * v);
  return solved.vectors.rightCols(latentDim).rowwise().reverse().cast<float>();
}

}  // namespace headscope::attention

#include "attention/core/linear_maps.h"

namespace headscope::attention {
namespace {

std::size_t size(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

kernels::Columns<float> intoRows(Matrix& y) {
  return {y.data(), size(y.cols()), size(y.cols()), 0};
}

kernels::Columns<float> intoHeads(Stack& y, Index firstHead) {
  return {y.data() + firstHead * y.rows() * y.cols(), size(y.cols()), size(y.cols()),
          size(y.rows() * y.cols())};
}

bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop) {
  return kernels::applyMaps(kernels::sharedPool(), size(x.rows()), size(x.cols()),
                            {x.data(), size(x.outerStride()), size(x.cols()), 0}, maps, stop);
}

bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop) {
  const std::size_t rows = size(heads.rows()), headDim = size(heads.cols());
  return kernels::applyMaps(kernels::sharedPool(), rows, headDim * size(heads.count()),
                            {heads.data(), headDim, headDim, headDim * rows}, maps, stop);
}

}  // namespace headscope::attention

#include "attention/core/linear_maps.h"

namespace headscope::attention {
namespace {}  // namespace

kernels::Columns<float> intoRows(Matrix& y) {
  return {y.data(), asSize(y.cols()), asSize(y.cols()), 0};
}

kernels::Columns<float> intoHeads(Stack& y, Index firstHead) {
  return {y.data() + firstHead * y.rows() * y.cols(), asSize(y.cols()), asSize(y.cols()),
          asSize(y.rows() * y.cols())};
}

bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop) {
  return kernels::applyMaps(kernels::sharedPool(), asSize(x.rows()), asSize(x.cols()),
                            {x.data(), asSize(x.outerStride()), asSize(x.cols()), 0}, maps, stop);
}

bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop) {
  const std::size_t rows = asSize(heads.rows()), headDim = asSize(heads.cols());
  return kernels::applyMaps(kernels::sharedPool(), rows, headDim * asSize(heads.count()),
                            {heads.data(), headDim, headDim, headDim * rows}, maps, stop);
}

}  // namespace headscope::attention

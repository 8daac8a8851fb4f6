#include "app/compute/cache_picture.h"

#include <algorithm>

namespace headscope::app {

namespace {

constexpr Index kMostBands = 24;

float largest(const attention::Stack& values) {
  float most = 0;
  for (Index i = 0; i < values.count(); ++i) most = std::max(most, values[i].cwiseAbs().maxCoeff());
  return most > 0 ? most : 1;
}

void fillStrips(const attention::Stack& values, Index offset, attention::Stack& picture) {
  const Index bands = picture.rows(), dims = values.cols();
  const float most = largest(values);
  for (Index head = 0; head < values.count(); ++head) {
    const attention::MatrixView from = values[head];
    attention::MutableMatrixView to = picture[2 * head + offset];
    for (Index band = 0; band < bands; ++band) {
      const Index first = band * dims / bands, count = std::max<Index>(1, (band + 1) * dims / bands - first);
      to.row(band) = from.middleCols(first, count).cwiseAbs().rowwise().maxCoeff().transpose() / most;
    }
  }
}

}  // namespace

attention::Stack cachePicture(const attention::AttentionResult& result) {
  attention::Stack picture(2 * result.k.count(), std::min(kMostBands, result.k.cols()), result.k.rows());
  if (picture.empty()) return picture;
  fillStrips(result.k, 0, picture);
  fillStrips(result.v, 1, picture);
  return picture;
}

}  // namespace headscope::app

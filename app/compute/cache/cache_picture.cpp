#include "app/compute/cache/cache_picture.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/cache/quantise.h"
#include "attention/core/extremes.h"
#include "attention/core/max_pool.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

namespace {

using attention::Matrix;
using attention::Stack;

bool isMark(float value) {
  return value == render::kMaskedCell || value == render::kDeadCell;
}

/// Returns a number that is greater the farther `value` is from 0, and greatest for NaN: its bits, with the
/// sign as the lowest, which is 1 for positive values. Compilers vectorize the maximum of signed numbers.
std::int32_t strengthOf(float value) {
  return static_cast<std::int32_t>(std::rotl(std::bit_cast<std::uint32_t>(value), 1) ^ 0x80000001u);
}

float ofStrength(std::int32_t strength) {
  return std::bit_cast<float>(std::rotr(static_cast<std::uint32_t>(strength) ^ 0x80000001u, 1));
}

/// Returns the strongest value of a block that has marks, or a mark if it has nothing else.
float strongestOfMarked(const Eigen::Ref<const Matrix>& block) {
  float best = render::kMaskedCell;
  for (const float value : block.reshaped()) {
    if (isMark(value) ? best == render::kMaskedCell : isMark(best) || strengthOf(value) > strengthOf(best))
      best = value;
  }
  return best;
}

/// Pools one layer of K or V. Returns the largest finite magnitude.
float fillBand(const attention::MatrixView& values, attention::NumberFormat format, CacheGrain grain,
               attention::MutableMatrixView picture) {
  // fp32 is stored unchanged and needs no copy.
  const Matrix pooled = format == attention::NumberFormat::fp32
                            ? strongestOf(values, grain.tokens, grain.dims)
                            : strongestOf(attention::quantised(values, format), grain.tokens, grain.dims);
  picture = pooled.transpose();
  return attention::largestFinite(pooled);
}

}  // namespace

Matrix strongestOf(const Eigen::Ref<const Matrix>& values, Index rowFactor, Index colFactor) {
  Matrix pooled(attention::pooledSize(values.rows(), rowFactor),
                attention::pooledSize(values.cols(), colFactor));
  std::vector<std::int32_t> strengths(static_cast<std::size_t>(values.cols()));
  for (Index row = 0; row < pooled.rows(); ++row) {
    const Index top = row * rowFactor, rows = std::min(rowFactor, values.rows() - top);
    std::ranges::fill(strengths, std::numeric_limits<std::int32_t>::min());
    for (Index i = top; i < top + rows; ++i) {
      const float* const from = values.row(i).data();
      for (std::size_t col = 0; col < strengths.size(); ++col)
        strengths[col] = std::max(strengths[col], strengthOf(from[col]));
    }
    for (Index at = 0; at < pooled.cols(); ++at) {
      const Index left = at * colFactor, cols = std::min(colFactor, values.cols() - left);
      const float best =
          ofStrength(*std::max_element(strengths.begin() + left, strengths.begin() + left + cols));
      pooled(row, at) = isMark(best) ? strongestOfMarked(values.block(top, left, rows, cols)) : best;
    }
  }
  return pooled;
}

CacheGrain cacheGrain(const attention::AttentionResult& result, Index maxRows, Index maxCols) {
  const auto grain = [](Index size, Index most) {
    return std::max<Index>(1, attention::pooledSize(size, std::max<Index>(most, 1)));
  };
  return {grain(result.k.cols(), maxRows), grain(result.k.rows(), maxCols)};
}

Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain, attention::NumberFormat stored,
                   std::stop_token stop) {
  const Index kvHeads = result.k.count();
  Stack picture(2 * kvHeads, attention::pooledSize(result.k.cols(), grain.dims),
                attention::pooledSize(result.k.rows(), grain.tokens));
  std::vector<float> most(static_cast<std::size_t>(2 * kvHeads));
  attention::forEach(2 * kvHeads, stop, [&](Index band) {
    const Stack& values = band % 2 == 0 ? result.k : result.v;
    most[static_cast<std::size_t>(band)] = fillBand(values[band / 2], stored, grain, picture[band]);
  });
  for (Index offset = 0; offset < 2; ++offset) {
    float all = 0;
    for (Index band = offset; band < 2 * kvHeads; band += 2)
      all = std::max(all, most[static_cast<std::size_t>(band)]);
    for (Index band = offset; band < 2 * kvHeads && all > 0; band += 2) picture[band] /= all;
  }
  return picture;
}

}  // namespace headscope::app

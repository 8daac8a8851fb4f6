#include "app/compute/cache/cache_picture.h"

#include <algorithm>
#include <cmath>

#include "attention/cache/quantise.h"
#include "render/heatmap.h"

namespace headscope::app {

namespace {

using attention::Matrix;
using attention::Stack;

/// Returns the number of pixels that `size` values take.
Index pixels(Index size, Index grain) {
  return (size + grain - 1) / grain;
}

bool isMark(float value) {
  return value == render::kMaskedCell || value == render::kDeadCell;
}

/// Returns the magnitude a value must exceed to replace `best`.
float strengthOf(float best) {
  return isMark(best) ? -1 : std::abs(best);
}

/// Returns the stronger of the two, given that |value| exceeds the strength of `best` or either is NaN. NaN
/// beats all; marks lose to values, and a masked mark loses to a dead one.
float stronger(float best, float value) {
  if (std::isnan(best)) return best;
  return isMark(value) && best != render::kMaskedCell ? best : value;
}

void fillBands(const Stack& values, attention::NumberFormat format, CacheGrain grain, Index offset,
               Stack& picture, const std::stop_token& stop) {
  float most = 0;
  for (Index g = 0; g < values.count() && !stop.stop_requested(); ++g) {
    // fp32 is stored unchanged and needs no copy.
    const Matrix pooled =
        format == attention::NumberFormat::fp32
            ? strongestOf(values[g], grain.tokens, grain.dims)
            : strongestOf(attention::quantised(values[g], format), grain.tokens, grain.dims);
    for (const float value : pooled.reshaped())
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    picture[2 * g + offset] = pooled.transpose();
  }
  for (Index g = 0; g < values.count() && most > 0; ++g) picture[2 * g + offset] /= most;
}

}  // namespace

Matrix strongestOf(const Eigen::Ref<const Matrix>& values, Index rowFactor, Index colFactor) {
  Matrix pooled(pixels(values.rows(), rowFactor), pixels(values.cols(), colFactor));
  for (Index row = 0; row < values.rows(); ++row) {
    const float* from = values.row(row).data();
    float* to = pooled.row(row / rowFactor).data();
    const bool first = row % rowFactor == 0;
    for (Index at = 0; at < pooled.cols(); ++at) {
      float best = first ? from[at * colFactor] : to[at], strength = strengthOf(best);
      const Index end = std::min((at + 1) * colFactor, values.cols());
      for (Index col = at * colFactor; col < end; ++col) {
        if (std::abs(from[col]) <= strength) continue;
        best = stronger(best, from[col]);
        strength = strengthOf(best);
      }
      to[at] = best;
    }
  }
  return pooled;
}

CacheGrain cacheGrain(const attention::AttentionResult& result, Index maxRows, Index maxCols) {
  const auto grain = [](Index size, Index most) {
    return std::max<Index>(1, pixels(size, std::max<Index>(most, 1)));
  };
  return {grain(result.k.cols(), maxRows), grain(result.k.rows(), maxCols)};
}

Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain, attention::NumberFormat stored,
                   std::stop_token stop) {
  Stack picture(2 * result.k.count(), pixels(result.k.cols(), grain.dims),
                pixels(result.k.rows(), grain.tokens));
  fillBands(result.k, stored, grain, 0, picture, stop);
  fillBands(result.v, stored, grain, 1, picture, stop);
  return picture;
}

}  // namespace headscope::app

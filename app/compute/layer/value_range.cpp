#include "app/compute/layer/value_range.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

render::Colormap colormapFor(const Look& look) {
  return look.quantity == Quantity::scores ? look.scoreColormap : look.colormap;
}

Look lookFor(Look look, const HeadPictures& pictures) {
  if (pictures.aroundZero > 0) look.colormap = render::Colormap::diverging;
  return look;
}

ValueRange weightRange(const Look& look) {
  return look.range == RangeMode::logarithmic ? ValueRange{1e-4f, 1, true} : ValueRange{};
}

ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head) {
  const auto h = static_cast<std::size_t>(head);
  const bool perHead = look.range == RangeMode::perHead;
  if (look.quantity != Quantity::scores) {
    if (pictures.aroundZero > 0) return {-pictures.aroundZero, pictures.aroundZero, false};
    const float all = *std::max_element(pictures.maxWeight.begin(), pictures.maxWeight.end());
    // After dropout weights may exceed 1, but the heads share one scale.
    if (look.range == RangeMode::unit)
      return {0, look.quantity == Quantity::dropped ? std::max(1.0f, all) : 1, false};
    const float most = perHead ? pictures.maxWeight[h] : all;
    if (look.range == RangeMode::logarithmic) return weightRange(look);
    return {0, most > 0 ? most : 1, false};
  }
  float low =
      perHead ? pictures.minScore[h] : *std::min_element(pictures.minScore.begin(), pictures.minScore.end());
  float high =
      perHead ? pictures.maxScore[h] : *std::max_element(pictures.maxScore.begin(), pictures.maxScore.end());
  if (colormapFor(look) == render::Colormap::diverging) {
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  if (!(high > low)) high = low + 1;
  return {low, high, false};
}

}  // namespace headscope::app

#include "app/compute/model/picture_map.h"

#include <algorithm>
#include <cmath>

#include "attention/core/extremes.h"

namespace headscope::app {

using attention::RgbImage;
using attention::Vector;

attention::Vector pictureMap(const LayerSummary& layer, Index head, const attention::Matrix* below,
                             const PictureMapChoice& choice) {
  const Index query = choice.map == PictureMap::first ? 0 : choice.query;
  Vector row = layer.weights[head].row(query).transpose();
  if (choice.map != PictureMap::rollout) return row;
  const bool seesNone = row.isZero(0);
  row *= 0.5f;
  row[query] += seesNone ? 1.0f : 0.5f;
  if (!below) return row;
  return (row.transpose() * *below).transpose();
}

float pictureMapTop(const OpenPicture& picture, const Vector& map) {
  return std::max(attention::largestFinite(map.segment(picture.before, picture.rows * picture.cols)), 0.0f);
}

attention::RgbImage overlaidPicture(const OpenPicture& picture, const Vector& map, float top,
                                    render::Colormap colormap, Index side) {
  const RgbImage& seen = picture.seen;
  const Index longest = std::max(seen.width, seen.height);
  RgbImage over = attention::resized(seen, std::max<Index>(seen.width * side / longest, 1),
                                     std::max<Index>(seen.height * side / longest, 1),
                                     attention::ResampleFilter::bilinear);
  const auto colours = render::table(colormap);
  for (Index y = 0; y < over.height; ++y)
    for (Index x = 0; x < over.width; ++x) {
      const Index patch = y * picture.rows / over.height * picture.cols + x * picture.cols / over.width;
      const float value = map[picture.before + patch];
      const float t = top > 0 && std::isfinite(value) ? std::clamp(value / top, 0.0f, 1.0f) : 0;
      std::uint8_t* const pixel = over.rgb.data() + 3 * (y * over.width + x);
      // Rec. 601 luma, darkened, so that all colours come from the map.
      const float grey = 0.6f * (0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
      const float share = 0.8f * std::sqrt(t);
      const std::size_t entry = 4 * static_cast<std::size_t>(std::lround(255 * t));
      for (std::size_t c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::lround((1 - share) * grey + share * colours[entry + c]));
    }
  return over;
}

}  // namespace headscope::app

#include "app/compute/mask/mask_picture.h"

#include <algorithm>
#include <cmath>

#include "attention/formats/files/file_io.h"
#include "attention/masks/statistics.h"

namespace headscope::app {
namespace {

using attention::Index;

constexpr Index kMaxSide = 4096;

struct Rgb {
  float r, g, b;
};
constexpr Rgb kMasked{22, 24, 31}, kVisible{226, 232, 244};

void setPixel(render::Image& image, std::size_t pixel, float light) {
  const auto mix = [&](float dark, float bright) {
    return static_cast<std::uint8_t>(std::lround(dark + (bright - dark) * light));
  };
  std::uint8_t* rgba = image.rgba.data() + 4 * pixel;
  rgba[0] = mix(kMasked.r, kVisible.r);
  rgba[1] = mix(kMasked.g, kVisible.g);
  rgba[2] = mix(kMasked.b, kVisible.b);
  rgba[3] = 255;
}

}  // namespace

Index cellsPerPixel(const attention::MaskFormula& mask) {
  return (std::max(mask.queries(), mask.keys()) + kMaxSide - 1) / kMaxSide;
}

render::Image maskImage(const attention::MaskFormula& mask, Index variant) {
  // A single visible cell among many masked ones must still show.
  constexpr float kFaintest = 0.2F;
  const Index cells = cellsPerPixel(mask);
  const attention::BlockMap map = attention::mapBlocks(mask, variant, cells);
  render::Image image{static_cast<int>(map.cols), static_cast<int>(map.rows), {}};
  image.rgba.resize(4 * map.visible.size());
  for (Index row = 0; row < map.rows; ++row) {
    const Index height = std::min(cells, mask.queries() - row * cells);
    for (Index col = 0; col < map.cols; ++col) {
      const Index width = std::min(cells, mask.keys() - col * cells);
      const auto pixel = static_cast<std::size_t>(row * map.cols + col);
      const float share = static_cast<float>(map.visible[pixel]) / static_cast<float>(width * height);
      setPixel(image, pixel, share > 0 ? kFaintest + (1 - kFaintest) * share : 0);
    }
  }
  return image;
}

attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   Index variant) {
  return attention::writeFile(path, render::encodePng(maskImage(mask, variant)));
}

}  // namespace headscope::app

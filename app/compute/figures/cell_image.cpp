#include "app/compute/figures/cell_image.h"

#include <algorithm>
#include <cmath>

#include "attention/core/max_pool.h"

namespace headscope::app {

using attention::Index;
using attention::Matrix;
using render::Color;
using render::HeatmapStyle;

namespace {

/// Limits in pixels: along a side of a cell, and along an image's longer side.
constexpr Index kCellPixels = 4, kImageSide = 4096;
constexpr Index kMostRectangles = 6000;

/// Draws repeat × repeat pixels per cell.
render::Image imageOf(const Matrix& values, const HeatmapStyle& style, Index repeat) {
  render::Image image{static_cast<int>(values.cols() * repeat), static_cast<int>(values.rows() * repeat), {}};
  image.rgba.reserve(4 * static_cast<std::size_t>(values.size() * repeat * repeat));
  for (Index row = 0; row < values.rows(); ++row) {
    const std::size_t begin = image.rgba.size();
    for (Index col = 0; col < values.cols(); ++col) {
      const Color color = cellColor(style, values(row, col));
      const auto byte = [](float part) { return static_cast<std::uint8_t>(std::lround(part * 255)); };
      const std::uint8_t alpha = values(row, col) == render::kMaskedCell ? 0 : 255;
      for (Index i = 0; i < repeat; ++i)
        image.rgba.insert(image.rgba.end(), {byte(color.r), byte(color.g), byte(color.b), alpha});
    }
    const std::size_t length = image.rgba.size() - begin;
    for (Index i = 1; i < repeat; ++i) {
      image.rgba.resize(image.rgba.size() + length);
      std::copy_n(image.rgba.begin() + static_cast<std::ptrdiff_t>(begin), length,
                  image.rgba.end() - static_cast<std::ptrdiff_t>(length));
    }
  }
  return image;
}

}  // namespace

bool drawsRectangles(const Drawing& drawing) {
  Index count = 0;
  for (const Shape& shape : drawing.shapes)
    if (const Cells* cells = std::get_if<Cells>(&shape)) count += cells->values.size();
  return count <= kMostRectangles;
}

CellImage cellImage(const Cells& cells, double pixelsPerUnit) {
  // Pixels of the page per cell.
  const double pixels =
      pixelsPerUnit * std::min(cells.frame.width / static_cast<double>(cells.values.cols()),
                               cells.frame.height / static_cast<double>(cells.values.rows()));
  const bool known = pixelsPerUnit > 0;
  const auto factor = static_cast<Index>(known && pixels < 1 ? std::ceil(1 / pixels - 1e-3) : 1);
  CellImage out{attention::maxPooled(cells.values, factor), {}};
  // Viewers smooth enlarged images: many pixels per cell keep its edges sharp.
  const Index longer = std::max(out.values.rows(), out.values.cols());
  const double wanted = known ? std::ceil(pixels * static_cast<double>(factor) - 1e-3) : kCellPixels;
  const Index repeat =
      std::clamp<Index>(std::min(static_cast<Index>(wanted), kImageSide / longer), 1, kCellPixels);
  out.image = imageOf(out.values, cells.style, repeat);
  return out;
}

std::vector<Color> rampColors(const HeatmapStyle& style, int count) {
  HeatmapStyle even = style;
  even.low = 0;
  even.high = 1;
  even.logarithmic = false;
  std::vector<Color> colors;
  for (int i = 0; i < count; ++i)
    colors.push_back(cellColor(even, static_cast<float>(i) / static_cast<float>(count - 1)));
  return colors;
}

}  // namespace headscope::app

#pragma once

#include "render/heatmap.h"

namespace headscope::render {

/// A box of whole pixels, y down from the top left.
struct PixelBox {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool empty() const { return x0 >= x1 || y0 >= y1; }
  bool operator==(const PixelBox&) const = default;
};

/// Moves cell edges by this fraction of a pixel, so that an edge exactly on pixel centres falls on a definite
/// side. Larger than any rounding error, including the shader's.
inline constexpr double kLean = 1.0 / 512.0;

/// How a view maps a matrix to the framebuffer. A pixel belongs to the cell that contains its centre.
struct HeatmapLayout {
  int width, height;             ///< framebuffer, pixels
  double cellWidth, cellHeight;  ///< pixels
  PixelBox touched;              ///< all pixels drawn
  PixelBox cells;                ///< the part of `touched` on the matrix; the rest is background

  HeatmapLayout(const HeatmapView& view, int rows, int cols, int framebufferWidth, int framebufferHeight);
};

}  // namespace headscope::render

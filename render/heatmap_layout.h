#pragma once

#include "render/heatmap.h"

namespace headscope::render {

/// Whole pixels, counted from the top left.
struct PixelBox {
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool empty() const { return x0 >= x1 || y0 >= y1; }
  bool operator==(const PixelBox&) const = default;
};

/// A cell's edge that passes exactly through the centres of pixels has to fall on one side of them, in the
/// shader's rounding too: edges lean by this part of a pixel, more than coordinates are rounded by.
inline constexpr double kLean = 1.0 / 512.0;

/// How a view lays a matrix over the framebuffer. A pixel belongs to what its centre lies in.
struct HeatmapLayout {
  int width, height;             ///< of the framebuffer
  double cellWidth, cellHeight;  ///< pixels
  PixelBox touched;              ///< all that is drawn
  PixelBox cells;                ///< what of it lies on the matrix; the rest is background

  HeatmapLayout(const HeatmapView& view, int rows, int cols, int framebufferWidth, int framebufferHeight);
};

}  // namespace headscope::render

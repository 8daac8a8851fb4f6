#include "render/heatmap_layout.h"

#include <algorithm>
#include <cmath>

namespace headscope::render {
namespace {

/// Returns the first pixel whose centre is at or after `at`.
int pixelEdge(double at, int limit) {
  if (!(at > 0.0)) return 0;  // also catches NaN
  return static_cast<int>(std::clamp(std::ceil(at - 0.5 - kLean), 0.0, static_cast<double>(limit)));
}

PixelBox intersect(const PixelBox& a, const PixelBox& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

}  // namespace

HeatmapLayout::HeatmapLayout(const HeatmapView& view, int rows, int cols, int framebufferWidth,
                             int framebufferHeight)
    : width(framebufferWidth),
      height(framebufferHeight),
      cellWidth(double{view.target.width()} / double{view.cols}),
      cellHeight(double{view.target.height()} / double{view.rows}) {
  const auto pixels = [this](double x0, double y0, double x1, double y1) {
    return PixelBox{pixelEdge(x0, width), pixelEdge(y0, height), pixelEdge(x1, width), pixelEdge(y1, height)};
  };
  touched = intersect(pixels(view.target.x0, view.target.y0, view.target.x1, view.target.y1),
                      pixels(view.clip.x0, view.clip.y0, view.clip.x1, view.clip.y1));
  const double x0 = view.target.x0 - double{view.firstCol} * cellWidth;
  const double y0 = view.target.y0 - double{view.firstRow} * cellHeight;
  cells = intersect(touched, pixels(x0, y0, x0 + cols * cellWidth, y0 + rows * cellHeight));
}

}  // namespace headscope::render

#pragma once

#include "app/compute/figures/drawing.h"
#include "render/image.h"

namespace headscope::app {

/// Whether all cells of a drawing are rectangles of their own; where there are many, each matrix is one
/// image.
bool drawsRectangles(const Drawing& drawing);

/// A matrix as one image. Masked cells are holes in it.
struct CellImage {
  attention::Matrix values;  ///< max-pooled to what can be seen
  render::Image image;       ///< as many pixels for each of them as keep its edges sharp
};
/// `pixelsPerUnit`: of the page; 0: unknown, then every cell is kept.
CellImage cellImage(const Cells& cells, double pixelsPerUnit);

/// `count` colours of a style from its low to its high end.
std::vector<render::Color> rampColors(const render::HeatmapStyle& style, int count);

}  // namespace headscope::app

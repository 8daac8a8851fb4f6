#pragma once

#include "app/compute/figures/drawing.h"
#include "render/image.h"

namespace headscope::app {

/// Whether each cell of a drawing is drawn as a separate rectangle. If there are too many, each matrix is one
/// image.
bool drawsRectangles(const Drawing& drawing);

/// A matrix as one image. Masked cells are holes in it.
struct CellImage {
  attention::Matrix values;  ///< max-pooled to the visible resolution
  render::Image image;       ///< with enough pixels per value to keep its edges sharp
};
/// `pixelsPerUnit`: resolution of the page; 0 = unknown, keeps every cell.
CellImage cellImage(const Cells& cells, double pixelsPerUnit);

/// Returns `count` colours of a style from its low to its high end.
std::vector<render::Color> rampColors(const render::HeatmapStyle& style, int count);

}  // namespace headscope::app

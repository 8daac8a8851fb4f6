#pragma once

#include "app/widgets/view.h"
#include "attention/core/tensor.h"
#include "render/colormap.h"

namespace headscope::app {

/// How a small matrix is drawn cell by cell.
struct CellStyle {
  render::Colormap colormap = render::Colormap::viridis;
  float low = 0, high = 1;  ///< the values at the ends of the colormap
  float gap = 1;            ///< pixels between cells that are large enough to have some
};

/// A matrix of some thousand cells at the most, without a texture: thumbnails of lists, options, comparisons.
/// Large ones are pooled, the largest of each. Cells marked as masked or dead (render/heatmap.h) are hatched.
void paintCells(const View& view, Canvas list, const ImRect& area, const attention::Matrix& values,
                const CellStyle& style);
/// The largest area of square cells of that many rows and columns inside `room`, from its top left corner on.
ImRect squareCells(const ImRect& room, Index rows, Index cols);

}  // namespace headscope::app

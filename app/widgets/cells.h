#pragma once

#include "app/widgets/view.h"
#include "attention/core/tensor.h"
#include "render/colormap.h"

namespace headscope::app {

/// How paintCells() draws a matrix.
struct CellStyle {
  render::Colormap colormap = render::Colormap::viridis;
  float low = 0, high = 1;  ///< the values at the ends of the colormap
  float gap = 1;            ///< pixels between cells, if they are large enough
};

/// Paints a matrix of up to a few thousand cells without a texture, for thumbnails in lists, options and
/// comparisons. Larger matrices are max-pooled. Masked and dead cells (render/heatmap.h) are hatched.
void paintCells(const View& view, Canvas list, const ImRect& area, const attention::Matrix& values,
                const CellStyle& style);
/// Returns the largest area of rows × cols square cells that fits into `room`, at its top left corner.
ImRect squareCells(const ImRect& room, Index rows, Index cols);

}  // namespace headscope::app

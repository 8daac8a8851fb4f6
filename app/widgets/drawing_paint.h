#pragma once

#include "app/compute/figures/drawing_parts.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Returns the theme's colours for drawings on screen.
DrawingColors drawingColors(const Theme& theme);
/// Paints a drawing of text, boxes, lines and colour scales with its top left corner at `at`; one unit of the
/// drawing is `zoom` layout units. Skips cells and samples of cells, which the heatmap shader draws.
void paintDrawing(const View& view, Canvas list, const Drawing& drawing, ImVec2 at, float zoom = 1);

}  // namespace headscope::app

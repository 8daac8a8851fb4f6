#pragma once

#include "app/compute/figures/drawing_parts.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// The theme's colours for a drawing that is painted on screen.
DrawingColors drawingColors(const Theme& theme);
/// Paints a drawing of text, boxes, lines and colour scales with its top left corner at `at`, a unit of it as
/// large as `zoom` of the window's. Cells and samples of cells, which the heatmaps' shader draws, aren't
/// painted.
void paintDrawing(const View& view, Canvas list, const Drawing& drawing, ImVec2 at, float zoom = 1);

}  // namespace headscope::app

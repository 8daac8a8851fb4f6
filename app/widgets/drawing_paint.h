#pragma once

#include "app/platform/frame_recorder.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Returns the theme's colours for drawings on screen.
DrawingColors drawingColors(const Theme& theme);
/// Paints a drawing of text, boxes, lines and colour scales with its top left corner at `at`; one unit of the
/// drawing is a layout unit. Skips cells, which the heatmap shader draws.
void paintDrawing(const View& view, Canvas list, const Drawing& drawing, ImVec2 at);

/// Converts a recorded frame, drawn by `heatmaps`, to a drawing: letters become text, lines stay lines, and
/// heatmaps become their values. Blends between four corners become blends between two sides. A figure is
/// cropped to its content plus a margin.
Drawing frameDrawing(const View& view, const std::vector<FramePiece>& pieces, const HeatmapLayer& heatmaps,
                     int width, int height);

}  // namespace headscope::app

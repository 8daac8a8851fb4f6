#pragma once

#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/platform/frame_recorder.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Converts a recorded frame, drawn by `heatmaps`, to a drawing: letters become text, lines stay lines, and
/// heatmaps become their values. Blends between four corners become blends between two sides. A figure is
/// cropped to its content plus a margin.
Drawing frameDrawing(const View& view, const std::vector<FramePiece>& pieces, const HeatmapLayer& heatmaps,
                     int width, int height);

}  // namespace headscope::app

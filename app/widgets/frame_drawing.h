#pragma once

#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/platform/frame_recorder.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// A frame as it was recorded as a drawing: letters are text, lines are lines, and heatmaps are their values.
/// `heatmaps` drew the frame. Blends from corner to corner run from side to side.
/// A figure is what is on it, with a margin.
Drawing frameDrawing(const View& view, const std::vector<FramePiece>& pieces, const HeatmapLayer& heatmaps,
                     int width, int height);

}  // namespace headscope::app

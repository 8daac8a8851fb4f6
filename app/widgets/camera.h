#pragma once

#include "app/widgets/heat_tile.h"

namespace headscope::app {

/// The visible part of a matrix, in cells.
struct Camera {
  float row = 0, col = 0;
  float zoom = 1;  ///< 1 = the whole matrix
  bool operator==(const Camera&) const = default;
};

/// Returns the tile that shows the camera's part of an n × m matrix in `cells`.
HeatTile tileFor(const Camera& camera, const ImRect& cells, Index n, Index m, Index head);

/// Handles mouse input on ImGui's last item: the wheel zooms around the pointer and, with `dragMoves`,
/// dragging pans. Keeps the camera inside the n × m matrix; zoom 1 shows the whole matrix.
void moveCamera(Camera& camera, const View& view, const ImRect& cells, float n, float m, bool dragMoves);

}  // namespace headscope::app

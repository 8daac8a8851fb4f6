#pragma once

#include "app/widgets/heat_tile.h"

namespace headscope::app {

/// The part of a matrix that is on screen, in cells.
struct Camera {
  float row = 0, col = 0;
  float zoom = 1;  ///< 1 = the whole matrix
  bool operator==(const Camera&) const = default;
};

/// What of an n × m matrix a camera shows in `cells`.
HeatTile tileFor(const Camera& camera, const ImRect& cells, Index n, Index m, Index head);

/// Lets the wheel over ImGui's last item zoom about the pointer and, with `dragMoves`, dragging it move the
/// view. The camera stays inside the n × m matrix; at zoom 1 the whole of it is shown.
void moveCamera(Camera& camera, const View& view, const ImRect& cells, float n, float m, bool dragMoves);

}  // namespace headscope::app

#include "app/widgets/camera.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Keeps the camera inside the matrix; zoom 1 shows the whole matrix.
void clampCamera(Camera& camera, float n, float m) {
  const float most = std::max(1.0f, std::max(n, m) / 2);  // shows at least two cells across
  camera.zoom = std::clamp(camera.zoom, 1.0f, most);
  camera.row = std::clamp(camera.row, 0.0f, n - n / camera.zoom);
  camera.col = std::clamp(camera.col, 0.0f, m - m / camera.zoom);
}

}  // namespace

HeatTile tileFor(const Camera& camera, const ImRect& cells, Index n, Index m, Index head) {
  return {
      cells, camera.row, camera.col, static_cast<float>(n) / camera.zoom, static_cast<float>(m) / camera.zoom,
      head};
}

void moveCamera(Camera& camera, const View& view, const ImRect& cells, float n, float m, bool dragMoves) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const InputEvent& event : view.input.events) {
    if (event.kind != InputEvent::Kind::wheel || !ImGui::IsItemHovered() || event.y == 0) continue;
    const float fx = (mouse.x - cells.Min.x) / cells.GetWidth(),
                fy = (mouse.y - cells.Min.y) / cells.GetHeight();
    const float row = camera.row + fy * n / camera.zoom, col = camera.col + fx * m / camera.zoom;
    camera.zoom *= std::pow(1.2f, event.y);
    clampCamera(camera, n, m);
    camera.row = row - fy * n / camera.zoom;
    camera.col = col - fx * m / camera.zoom;
  }
  if (dragMoves && ImGui::IsItemActive() && ImGui::IsMouseDragging(0, view.px(4))) {
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    camera.col -= moved.x / cells.GetWidth() * m / camera.zoom;
    camera.row -= moved.y / cells.GetHeight() * n / camera.zoom;
  }
  clampCamera(camera, n, m);
}

}  // namespace headscope::app

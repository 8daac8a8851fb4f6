#include "app/widgets/cells.h"

#include <algorithm>
#include <cmath>

#include "app/compute/plots/thinning.h"
#include "render/heatmap.h"

namespace headscope::app {

namespace {

constexpr Index kMaxCells = 96;  // per side

void hatch(const View& view, Canvas list, const ImRect& cell, bool dead) {
  const Theme& theme = *view.theme;
  list.AddRectFilled(cell.Min, cell.Max, mixed(theme.background, theme.panel, 0.7f));
  if (cell.GetWidth() < view.px(5) || cell.GetHeight() < view.px(5)) return;
  list.PushClipRect(cell.Min, cell.Max, true);
  const std::uint32_t ink = dead ? theme.faint : mixed(theme.background, theme.line, 0.8f);
  const float step = view.px(6), height = cell.GetHeight();
  // Aligns the lines across cells.
  const float phase = std::fmod(cell.Min.x + cell.Max.y, step);
  for (const float x : placesBetween(cell.Min.x - height - phase, cell.Max.x, step)) {
    list.AddLine(ImVec2(x, cell.Max.y), ImVec2(x + height, cell.Min.y), ink, std::max(1.0f, view.px(0.8f)));
    if (dead) list.AddLine(ImVec2(x, cell.Min.y), ImVec2(x + height, cell.Max.y), ink, view.px(0.8f));
  }
  list.PopClipRect();
}

}  // namespace

void paintCells(const View& view, Canvas list, const ImRect& area, const attention::Matrix& values,
                const CellStyle& style) {
  if (values.size() == 0) return;
  const Index n = values.rows(), m = values.cols();
  const Index rows = std::min(n, kMaxCells), cols = std::min(m, kMaxCells);
  const float high = area.GetHeight() / static_cast<float>(rows);
  const float wide = area.GetWidth() / static_cast<float>(cols);
  const float gap = std::min(high, wide) > 4 * style.gap ? style.gap : 0;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const ImRect cell(area.Min.x + wide * static_cast<float>(c), area.Min.y + high * static_cast<float>(r),
                        area.Min.x + wide * static_cast<float>(c + 1) - gap,
                        area.Min.y + high * static_cast<float>(r + 1) - gap);
      const Index row = r * n / rows, col = c * m / cols;
      const Index lastRow = std::max(row + 1, (r + 1) * n / rows),
                  lastCol = std::max(col + 1, (c + 1) * m / cols);
      const float value =
          values.block(row, col, lastRow - row, lastCol - col).maxCoeff<Eigen::PropagateNaN>();
      if (value == render::kMaskedCell || value == render::kDeadCell) {
        hatch(view, list, cell, value == render::kDeadCell);
        continue;
      }
      if (std::isnan(value)) {
        list.AddRectFilled(cell.Min, cell.Max, packed(render::HeatmapStyle().nan));
        continue;
      }
      const float t = (value - style.low) / std::max(style.high - style.low, 1e-9f);
      list.AddRectFilled(cell.Min, cell.Max, packed(render::sample(style.colormap, t)));
    }
}

ImRect squareCells(const ImRect& room, Index rows, Index cols) {
  const float side = std::min(room.GetWidth() / static_cast<float>(std::max<Index>(cols, 1)),
                              room.GetHeight() / static_cast<float>(std::max<Index>(rows, 1)));
  return {room.Min.x, room.Min.y, room.Min.x + side * static_cast<float>(cols),
          room.Min.y + side * static_cast<float>(rows)};
}

}  // namespace headscope::app

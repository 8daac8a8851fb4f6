#include <algorithm>
#include <cmath>

#include "app/studio/studio.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace {

/// Title above the cells, a quiet word at the right of it.
void paintTitle(const View& view, ImDrawList& list, const MapSpec& spec, const ImRect& cells) {
  const float y = cells.Min.y - view.px(16);
  const float aside = spec.aside.empty() ? 0 : textWidth(view.fonts->small, spec.aside) + view.px(12);
  const bool fits = aside < cells.GetWidth() * 0.7f;
  paintFitted(view, list, view.fonts->bold, ImVec2(cells.Min.x, y), cells.GetWidth() - (fits ? aside : 0),
              view.theme->text, spec.title);
  if (fits && aside > 0)
    paintText(list, view.fonts->small, ImVec2(cells.Max.x, y), view.theme->secondary, spec.aside,
              Align::right);
}

/// A rectangle round the cells the brush would paint.
void paintBrush(const View& view, ImDrawList& list, const HeatTile& tile, const HeatTile::RowCol& cell) {
  const Brush& brush = view.studio.brush;
  if (brush.tool != PaintTool::brush && brush.tool != PaintTool::line) return;
  const Index half = (brush.size - 1) / 2;
  const float x0 = tile.x(static_cast<float>(cell.col - half)),
              y0 = tile.y(static_cast<float>(cell.row - half));
  const float x1 = tile.x(static_cast<float>(cell.col - half + brush.size)),
              y1 = tile.y(static_cast<float>(cell.row - half + brush.size));
  list.PushClipRect(tile.area.Min, tile.area.Max, true);
  compat::rectOutline(list, ImVec2(x0, y0), ImVec2(x1, y1), view.theme->text, 0,
                      std::max(1.5f, view.px(1.5f)));
  list.PopClipRect();
}

}  // namespace

namespace {
constexpr float kRowLabels = 92, kKeyLabels = 84, kTitleRoom = 32, kMargin = 8;
}  // namespace

ImRect mapCells(const View& view, const ImRect& area, float n, float m, bool rowLabels) {
  const float left = view.px(rowLabels ? kRowLabels : kMargin), bottom = view.px(kKeyLabels),
              top = view.px(kTitleRoom);
  const float aspect = std::clamp(m / n, 0.2f, 5.0f);
  const float roomX = std::max(view.px(40), area.GetWidth() - left - view.px(kMargin)),
              roomY = std::max(view.px(40), area.GetHeight() - top - bottom);
  const float width = std::floor(std::min(roomX, roomY * aspect));
  const float height = std::floor(width / aspect);
  // A little above the middle of what is left over.
  const float x = std::round(area.Min.x + left + (roomX - width) / 2),
              y = std::round(area.Min.y + top + (roomY - height) * 0.3f);
  return {x, y, x + width, y + height};
}

std::vector<ImRect> mapColumns(const View& view, const ImRect& area, int count) {
  const float extra = view.px(kRowLabels - kMargin), space = view.px(10);
  const float each =
      (area.GetWidth() - extra - space * static_cast<float>(count - 1)) / static_cast<float>(count);
  std::vector<ImRect> columns;
  float x = area.Min.x;
  for (int i = 0; i < count; ++i) {
    const float width = each + (i == 0 ? extra : 0);
    columns.emplace_back(x, area.Min.y, x + width, area.Max.y);
    x += width + space;
  }
  return columns;
}

MapAnswer drawMap(const MapSpec& spec, Scene& scene, View& view, const ImRect& area) {
  const MaskStudy& study = *view.studio.study;
  const LineTokens& line = *study.line();
  const auto n = static_cast<Index>(line.queries.size()), m = static_cast<Index>(line.keys.size());
  const auto rows = static_cast<float>(n), cols = static_cast<float>(m);
  const ImRect cells = mapCells(view, area, rows, cols, spec.rowLabels);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos(cells.Min);
  ImGui::InvisibleButton(spec.name, cells.GetSize());
  trackItem(spec.name);
  const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const float still = view.px(4);
  const bool clicked =
      ImGui::IsItemDeactivated() && hovered && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < still * still;
  const bool brushing = spec.paints && view.studio.brush.tool != PaintTool::look;
  moveCamera(view, cells, rows, cols, !brushing);
  const Cell& chosen = scene.cursor.cell;
  MapAnswer answer{tileFor(view.camera, cells, n, m, chosen.head), std::nullopt};
  const HeatTile& tile = answer.tile;
  view.studio.mapPixels = std::exp2(
      std::ceil(std::log2(std::max(1.0f, std::max(cells.GetWidth(), cells.GetHeight()) * view.camera.zoom))));

  HeatmapTile picture;
  picture.view.target = {cells.Min.x, cells.Min.y, cells.Max.x, cells.Max.y};
  picture.view.clip = picture.view.target;
  const auto factor = static_cast<float>(spec.factor);
  picture.view.firstRow = tile.row / factor;
  picture.view.firstCol = tile.col / factor;
  picture.view.rows = tile.rows / factor;
  picture.view.cols = tile.cols / factor;
  picture.low = spec.low;
  picture.high = spec.high;
  list.AddRectFilled(cells.Min, cells.Max, view.theme->background);
  view.heatmaps->draw(list, spec.surface, spec.style, {picture});

  const Index query = view.hover.query >= 0 ? view.hover.query : chosen.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : chosen.key;
  paintTitle(view, list, spec, cells);
  static const std::vector<attention::Token> kNone;
  paintAxisLabels(view, list, tile,
                  {spec.rowLabels ? &line.queries : &kNone, &line.keys, query, key, view.px(kRowLabels - 4),
                   view.px(kKeyLabels - 6), false});
  paintCrosshair(view, list, tile, query, key, n, m);
  if (hovered || (held && brushing)) answer.cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (answer.cell && hovered) {
    view.nextHover = {chosen.head, answer.cell->row, answer.cell->col};
    if (brushing) paintBrush(view, list, tile, *answer.cell);
    if (clicked) scene.cursor.cell = {chosen.head, answer.cell->row, answer.cell->col};
  }
  if (brushing) useBrush(scene, view, answer, held);
  return answer;
}

void weightBar(const View& view, render::Colormap colormap, ImVec2 right, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = view.px(8), label = view.px(12);
  const float from = right.x - width + label, to = right.x - label;
  constexpr int kSteps = 32;
  for (int i = 0; i < kSteps; ++i) {
    const float a = static_cast<float>(i) / kSteps, b = static_cast<float>(i + 1) / kSteps;
    list.AddRectFilled(ImVec2(from + a * (to - from), right.y - height / 2),
                       ImVec2(from + b * (to - from), right.y + height / 2),
                       packed(render::sample(colormap, (a + b) / 2)));
  }
  paintText(list, view.fonts->monoSmall, ImVec2(from - view.px(4), right.y), view.theme->secondary, "0",
            Align::right);
  paintText(list, view.fonts->monoSmall, ImVec2(to + view.px(4), right.y), view.theme->secondary, "1");
}

void signedBar(const View& view, float extreme, ImVec2 right, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = view.px(8);
  const ImVec2 from(right.x - width, right.y - height / 2);
  constexpr int kSteps = 48;
  for (int i = 0; i < kSteps; ++i) {
    const float a = static_cast<float>(i) / kSteps, b = static_cast<float>(i + 1) / kSteps;
    list.AddRectFilled(ImVec2(from.x + a * width, from.y), ImVec2(from.x + b * width, from.y + height),
                       packed(render::sample(render::Colormap::diverging, (a + b) / 2)));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", static_cast<double>(extreme));
  const float y = right.y + view.px(13);
  paintText(list, view.fonts->monoSmall, ImVec2(from.x, y), view.theme->secondary, std::string("−") + text);
  paintText(list, view.fonts->monoSmall, ImVec2(from.x + width / 2, y), view.theme->secondary, "0",
            Align::center);
  paintText(list, view.fonts->monoSmall, ImVec2(right.x, y), view.theme->secondary, std::string("+") + text,
            Align::right);
}

}  // namespace headscope::app

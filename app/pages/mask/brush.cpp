
#include "app/kit/control_line.h"
#include "app/pages/mask/mask_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app::mask_page {

namespace {

void begin(Scene& scene, Brush& brush, Index row, Index key) {
  brush.painting = true;
  ++brush.strokes;
  brush.fromRow = brush.lastRow = row;
  brush.fromKey = brush.lastKey = key;
  if (scene.cursor.studio.tab == StudioTab::biases) {
    brush.biasesBefore = scene.setup.mask.additive;
    return;
  }
  const std::string name = paintingFor(scene.setup.mask, editedLayers(scene), scene.cursor.studio.selected);
  brush.cellsBefore = scene.setup.mask.paintings[name];
}

/// Applies the stroke up to a cell. The brush continues from its last cell; other tools start over from where
/// the stroke began.
void apply(Scene& scene, Brush& brush, const attention::MaskGeometry& size, Index row, Index key) {
  const bool goesOn = brush.tool == PaintTool::brush;
  const auto [fromRow, fromKey] =
      goesOn ? std::pair(brush.lastRow, brush.lastKey) : std::pair(brush.fromRow, brush.fromKey);
  const Stroke stroke{brush.tool, fromRow, fromKey, row, key, brush.size, brush.mirror};
  brush.lastRow = row;
  brush.lastKey = key;
  MaskSetup& mask = scene.setup.mask;
  if (scene.cursor.studio.tab == StudioTab::biases) {
    if (!goesOn) mask.additive = brush.biasesBefore;
    paint(mask.additive.edit().values, stroke, size.queries, size.keys, brush.erases ? 0 : brush.bias);
    return;
  }
  SharedValue<attention::CellTable>& painting =
      mask.paintings[paintingFor(mask, editedLayers(scene), scene.cursor.studio.selected)];
  if (!goesOn) painting = brush.cellsBefore;
  if (brush.erases)
    erase(painting.edit(), stroke, size.queries, size.keys);
  else
    paint(painting.edit(), stroke, size.queries, size.keys, brush.visible);
}

}  // namespace

void useBrush(Scene& scene, State& page, const PointedMap& map) {
  Brush& brush = page.brush;
  brush.painting = brush.painting && map.held;
  if (!map.held || !map.cell) return;
  const Index row = map.cell->row, key = map.cell->col;
  const bool first = !brush.painting;
  if (first) begin(scene, brush, row, key);
  // A stroke is one undo step, however many frames it takes.
  page.view.controls.continuousEdit = "stroke " + std::to_string(brush.strokes);
  if (!first && row == brush.lastRow && key == brush.lastKey) return;
  apply(scene, brush, page.study->geometry, row, key);
}

namespace {

struct Tool {
  PaintTool tool;
  const char *name, *explained;
};
constexpr Tool kTools[] = {{PaintTool::look, "look", "View: point to inspect, scroll to zoom, drag to move"},
                           {PaintTool::brush, "brush", "Brush"},
                           {PaintTool::rectangle, "rectangle", "Rectangle: drag from corner to corner"},
                           {PaintTool::row, "row", "Rows: a query and all its keys"},
                           {PaintTool::column, "column", "Columns: a key for all queries"},
                           {PaintTool::diagonal, "diagonal", "Diagonals: one distance for all queries"},
                           {PaintTool::line, "line", "Line: drag from end to end"}};

/// Draws a tool's icon around `at`: what the tool paints on a small sheet.
void paintIcon(const View& view, Canvas list, PaintTool tool, ImVec2 at, std::uint32_t color) {
  const float r = view.px(7), thick = std::max(1.5f, view.px(1.6f));
  const auto point = [&](float x, float y) { return ImVec2(at.x + x * r, at.y + y * r); };
  if (tool == PaintTool::look) {
    list.AddTriangleFilled(point(-0.6f, -0.9f), point(-0.6f, 0.7f), point(0.65f, 0.25f), color);
    return;
  }
  if (tool != PaintTool::brush && tool != PaintTool::line)
    compat::rectOutline(list, point(-1, -1), point(1, 1), faded(color, 0.55f), view.px(1), 1);
  switch (tool) {
    case PaintTool::brush:
      list.AddCircleFilled(at, r * 0.62f, color, 20);
      break;
    case PaintTool::rectangle:
      list.AddRectFilled(point(-0.55f, -0.45f), point(0.55f, 0.45f), color);
      break;
    case PaintTool::row:
      list.AddRectFilled(point(-1, -0.28f), point(1, 0.28f), color);
      break;
    case PaintTool::column:
      list.AddRectFilled(point(-0.28f, -1), point(0.28f, 1), color);
      break;
    case PaintTool::diagonal:
      list.AddLine(point(-0.9f, -0.9f), point(0.9f, 0.9f), color, thick * 1.6f);
      break;
    default:
      list.AddLine(point(-0.8f, 0.6f), point(0.8f, -0.6f), color, thick);
      list.AddCircleFilled(point(-0.8f, 0.6f), thick * 1.2f, color, 10);
      list.AddCircleFilled(point(0.8f, -0.6f), thick * 1.2f, color, 10);
      break;
  }
}

/// The tools as icons, with the selected one raised.
void toolChoice(State& page) {
  View& view = page.view;
  Brush& brush = page.brush;
  const float height = view.px(30), inset = view.px(3), width = ImGui::GetContentRegionAvail().x;
  const float each = width / static_cast<float>(std::size(kTools));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), theme.background, view.px(7));
  compat::rectOutline(list, at, ImVec2(at.x + width, at.y + height), theme.line, view.px(7), 1);
  for (std::size_t i = 0; i < std::size(kTools); ++i) {
    const Tool& tool = kTools[i];
    const ImVec2 from(at.x + each * static_cast<float>(i), at.y), to(from.x + each, at.y + height);
    const std::string name = std::string("tool.") + tool.name;
    if (hitArea(name, from, ImVec2(each, height))) brush.tool = tool.tool;
    const bool chosen = brush.tool == tool.tool, hovered = ImGui::IsItemHovered();
    if (chosen)
      list.AddRectFilled(ImVec2(from.x + inset, from.y + inset), ImVec2(to.x - inset, to.y - inset),
                         theme.raised, view.px(5));
    paintIcon(view, list, tool.tool, ImVec2((from.x + to.x) / 2, (from.y + to.y) / 2),
              chosen || hovered ? theme.text : theme.secondary);
    if (hovered) tooltip(view, tool.explained);
  }
}

/// A choice of what the brush does to cells.
void effectChoice(Brush& brush, bool biases, View& view) {
  static const std::vector<Choice> kMask{
      {"Mask", "", "masked"}, {"Show", "", "visible"}, {"Erase", "", "erase"}};
  static const std::vector<Choice> kBias{{"Value", "", "value"}, {"Zero", "", "erase"}};
  int what = biases ? brush.erases : brush.erases ? 2 : brush.visible ? 1 : 0;
  if (!segmented(view, "paints", biases ? std::span<const Choice>(kBias) : std::span<const Choice>(kMask),
                 what))
    return;
  brush.erases = what == (biases ? 1 : 2);
  brush.visible = what == 1 && !biases;
}

}  // namespace

void brushBar(State& page, StudioTab tab, ControlLine& bar) {
  View& view = page.view;
  Brush& brush = page.brush;
  const bool biases = tab == StudioTab::biases;
  static const std::vector<Index> kSizes{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64};
  bar.part("tools", 238, [&] { toolChoice(page); });
  if (brush.tool == PaintTool::look) return;
  bar.part("paints", biases ? 130 : 168, [&] { effectChoice(brush, biases, view); });
  if (biases)
    bar.part("value", 200, [&] {
      slider(view, {"brush_bias", "Adds", "", "−20 to 20"}, Range{-20, 20}, {}, brush.bias);
    });
  else
    bar.part("mirror", 92, [&] { toggle(view, "mirror", "Mirror", brush.mirror); });
  bar.part("size", 160, [&] {
    slider(view, {"brush_size", "Size", "", "1 to 64 cells"}, kSizes, brush.size);
  });
}

}  // namespace headscope::app::mask_page

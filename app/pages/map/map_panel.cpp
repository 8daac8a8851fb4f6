
#include "app/pages/map/map_page.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app::map_page {

namespace {

std::string pooledWords(Pooling pooling, Index cells) {
  const std::string side = countText(cells);
  if (cells <= 1) return "single cells";
  return std::string(pooling == Pooling::max ? "largest of " : "mean of ") + side + " × " + side + " cells";
}

/// What the picture's values are, in the words used for a hovered pixel. If they are single cells, several of
/// them may share a screen pixel.
std::string shownWords(const Scene& scene, const State& page) {
  if (page.level > 0 || !page.window || page.window->cellsPerPixel <= 1 + 1e-6)
    return pooledWords(scene.map.pooling, factorOf(page.level));
  return scene.map.pooling == Pooling::max ? "largest cell per pixel" : "mean of cells per pixel";
}

std::string sizeWords(const MapSnapshot& state) {
  return countText(state.queries) + " × " + countText(state.keys) + " tokens";
}

BarLabels barLabels(const ValueRange& range) {
  if (!range.logarithmic)
    return {"0", range.high == 1 ? roundedText(0.5) : weightText(range.high / 2), weightText(range.high)};
  const auto power = static_cast<int>(std::lround(std::log10(range.low)));
  const auto ten = [](int exponent) {
    return exponent == 0 ? std::string("1") : "10" + raisedDigits(exponent);
  };
  return {ten(power), power % 2 == 0 ? ten(power / 2) : "log", "1"};
}

/// Draws, on the left, name, size, pooling and whether the map is exact; on the right, the colour bar.
void paintHeader(const Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const MapSnapshot& state = *page.state;
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const float y = area.Min.y + view.px(17), bar = view.px(area.GetWidth() > view.px(760) ? 190 : 120);
  const float end = area.Max.x - bar - view.px(20);
  const Index head = state.map->field().head;
  float x = area.Min.x;
  const float named =
      paintText(list, view.fonts->title, ImVec2(x, y), theme.text,
                (scene.map.source == MapSource::file ? "" : layerPrefix(scene.setup)) + headName(head));
  track("map.title." + std::to_string(head), ImVec2(x, y - view.px(9)), ImVec2(x + named, y + view.px(9)));
  x += named + view.px(10);
  if (state.kvHeads < state.heads) {
    const Index kvHead = head / (state.heads / state.kvHeads);
    x += paintBadge(view, list, ImVec2(x, y), groupColor(theme, kvHead), kvName(kvHead)) + view.px(12);
  }
  if (page.preview) {
    const std::string rows = countText(state.previewStep);
    const std::string words = "preview: 1 row in " + rows;
    const float width = paintBadge(view, list, ImVec2(x, y), theme.warning, words);
    track("map.preview", ImVec2(x, y - view.px(10)), ImVec2(x + width, y + view.px(10)));
    x += width + view.px(12);
  }
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), end - x, theme.secondary,
              sizeWords(state) + " · " + shownWords(scene, page) + (page.coarser ? ", computing" : "") +
                  (page.catchingUp ? " · updating" : ""));
  const Look look = mapLook(scene);
  paintColourBar(view, look.colormap, barLabels(shownRange(page, look)), ImVec2(area.Max.x, y), bar);
}

/// Selects a cell, or lets it go if it is the selected one.
void chooseOrLetGo(MapCursor& cursor, Index query, Index key) {
  const bool again = cursor.query == query && cursor.key == key;
  cursor.query = again ? -1 : query;
  cursor.key = again ? -1 : key;
}

/// Handles wheel, drag, click and keys; recomputes the window after each.
void moveMap(Scene& scene, View& view, MapWindow& window) {
  MapCursor& cursor = scene.cursor.map;
  const bool hovered = ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto renew = [&] { window = mapWindow(cursor, view, window.area, window.n, window.m); };
  for (const InputEvent& event : view.input.events) {
    if (event.kind != InputEvent::Kind::wheel || !hovered || event.y == 0) continue;
    zoomMap(cursor, window, std::pow(1.25, -static_cast<double>(event.y)), mouse);
    renew();
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, view.px(4))) {
    const ImVec2 moved = ImGui::GetIO().MouseDelta;
    panMap(cursor, window, -moved.x, -moved.y);
    renew();
  }
  const float still = view.px(4);
  if (ImGui::IsItemDeactivated() && hovered && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < still * still) {
    const auto row = static_cast<Index>(std::floor(window.rowAt(mouse.y))),
               col = static_cast<Index>(std::floor(window.colAt(mouse.x)));
    if (row >= 0 && col >= 0 && row < window.n && col < window.m) chooseOrLetGo(cursor, row, col);
  }
  const float x = window.area.GetWidth() / 8, y = window.area.GetHeight() / 8;
  if (view.pressed(Key::left)) panMap(cursor, window, -x, 0);
  if (view.pressed(Key::right)) panMap(cursor, window, x, 0);
  if (view.pressed(Key::up)) panMap(cursor, window, 0, -y);
  if (view.pressed(Key::down)) panMap(cursor, window, 0, y);
  const bool plus = view.pressed(Key::equal) || view.pressed(Key::equal, {.shift = true});
  if (plus) zoomMap(cursor, window, 0.5, window.area.GetCenter());
  if (view.pressed(Key::minus)) zoomMap(cursor, window, 2, window.area.GetCenter());
  if (view.pressed(Key::home)) cursor.cellsPerPixel = 0;
  renew();
}

/// Shows tokens, positions, and a cell's weight and score, or the value of cells pooled into one pixel.
void pointTooltip(const Scene& scene, State& page, Index query, Index key) {
  View& view = page.view;
  const MapSnapshot& state = *page.state;
  const Pooling pooling = scene.map.pooling;
  const std::string from = tokenAt(state.text->queries, query), to = tokenAt(state.text->keys, key);
  std::string text = from.empty() && to.empty() ? "" : from + " → " + to + "\n";
  text += "query " + countText(query) + " · key " + countText(key) + "\n";
  const std::optional<ShownValue> value = shownValue(page, pooling, page.level, query, key);
  if (!value)
    text += "computing";
  else if (value->value == render::kDeadCell)
    text += page.level == 0 ? "this query sees no key, so its weights are 0"
                            : "these queries see no key, so their weights are 0";
  else if (value->value == render::kMaskedCell)
    text += page.level == 0 ? "masked" : "all masked";
  else if (page.level == 0)
    text += "weight " + weightText(value->value) + " · " + mapScoreText(state.map->field(), query, key);
  else
    text += pooledWords(pooling, factorOf(page.level)) + ": " + weightText(value->value) +
            (value->preview ? " (preview)" : "");
  tooltip(view, text);
}

/// Draws numbers, the selected cell's crosshair and the hovered one's, with positions relative to the
/// window's first cell.
void paintOver(const Scene& scene, State& page, Canvas list, const MapWindow& window, Index query,
               Index key) {
  View& view = page.view;
  const ImRect cells = window.cells();
  const auto firstRow = static_cast<Index>(std::floor(std::max(0.0, window.row))),
             firstCol = static_cast<Index>(std::floor(std::max(0.0, window.col)));
  HeatTile tile;
  tile.area = cells;
  tile.row = static_cast<float>(window.rowAt(cells.Min.y) - static_cast<double>(firstRow));
  tile.col = static_cast<float>(window.colAt(cells.Min.x) - static_cast<double>(firstCol));
  tile.rows = static_cast<float>(cells.GetHeight() * window.cellsPerPixel);
  tile.cols = static_cast<float>(cells.GetWidth() * window.cellsPerPixel / window.wide);
  const Index n = window.n - firstRow, m = window.m - firstCol;
  const Look look = mapLook(scene);
  if (page.level == 0)
    paintValues(view, list, tile, n, m, look, shownRange(page, look),
                [&](Index row, Index col) -> std::optional<float> {
                  const auto value = shownValue(page, scene.map.pooling, 0, firstRow + row, firstCol + col);
                  if (!value || value->value <= render::kDeadCell) return std::nullopt;
                  return value->value;
                });
  const auto from = [](Index first, Index at) { return at >= 0 ? at - first : -1; };
  const auto& [head, overQuery, overKey] = view.hover;
  paintCrosshairs(view, list, tile, {-1, from(firstRow, query), from(firstCol, key)},
                  {-1, from(firstRow, overQuery), from(firstCol, overKey)}, n, m);
}

void paintMap(Scene& scene, State& page, const ImRect& inner) {
  View& view = page.view;
  const MapSnapshot& state = *page.state;
  Canvas list = *ImGui::GetWindowDrawList();
  if (view.figure) {
    const ImVec2 cells = figureCells(view, state.queries, state.keys, {.side = 720});
    view.fitFigure(
        ImVec2(std::max(cells.x, view.px(300)) + view.px(kMapLeft), cells.y + view.px(kMapTop + kMapBottom)));
    view.figure->title =
        "Attention weights of " + headName(state.map->field().head) + " over " + sizeWords(state);
  }
  const ImRect area(std::round(inner.Min.x + view.px(kMapLeft)), std::round(inner.Min.y + view.px(kMapTop)),
                    std::round(inner.Max.x), std::round(inner.Max.y - view.px(kMapBottom)));
  MapWindow window = mapWindow(scene.cursor.map, view, area, state.queries, state.keys);
  hitArea("map", area);
  noteTabStopKind(TabStopKind::picture, {area.GetWidth() / 48, area.GetHeight() / 48});
  const bool hovered = ImGui::IsItemHovered();
  moveMap(scene, view, window);
  page.window = window;
  drawTiles(scene, page, list, window);
  const ImRect cells = window.cells();
  track("map.cells", cells.Min, cells.Max);
  compat::rectOutline(list, ImVec2(cells.Min.x - 1, cells.Min.y - 1),
                      ImVec2(cells.Max.x + 1, cells.Max.y + 1), view.theme->line, 0, 1);
  MapCursor& cursor = scene.cursor.map;
  if (const ImVec2 mouse = ImGui::GetIO().MousePos; hovered && cells.Contains(mouse)) {
    const Index query = std::clamp<Index>(static_cast<Index>(window.rowAt(mouse.y)), 0, state.queries - 1);
    const Index key = std::clamp<Index>(static_cast<Index>(window.colAt(mouse.x)), 0, state.keys - 1);
    view.nextHover = {shownHead(scene), query, key};
    if (!ImGui::IsMouseDragging(0, view.px(4))) pointTooltip(scene, page, query, key);
    if (ImGui::IsMouseClicked(1)) {
      cursor.query = query;
      cursor.key = key;
      view.menu = {"map.cells", "map.whole", "map.copy_place", "picture.save_map", "page.heads", "page.mask"};
    }
  }
  const Index query = std::min(cursor.query, state.queries - 1), key = std::min(cursor.key, state.keys - 1);
  paintHeader(scene, page, inner);
  paintMapAxes(view, list, window, *state.text, query, key);
  paintOver(scene, page, list, window, query, key);
}

}  // namespace

void mapPanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  if (beginPanel(view, "map", layout.center, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(22);
    const ImRect inner(layout.center.Min.x + pad, layout.center.Min.y, layout.center.Max.x - pad,
                       layout.center.Max.y - view.px(6));
    const MapSnapshot* state = page.state.get();
    if (!state)
      paintMessage(view, inner, "Mapping…", "The first picture follows shortly.", view.theme->text);
    else if (scene.map.source == MapSource::file && scene.map.file.empty())
      emptyMessage(view, inner, "No file yet", "Open a safetensors file with queries and keys to map it.",
                   "Open a file…", "map.open");
    else if (state->error || !page.trouble.empty())
      paintMessage(view, inner, "Can't map this", state->error ? *state->error : page.trouble,
                   view.theme->error);
    else if (state->empty)
      paintMessage(view, inner, "Nothing to map yet",
                   "Type a sentence on the left, or choose a generated text of up to 131,072 tokens.",
                   view.theme->text);
    else
      paintMap(scene, page, inner);
  }
  endPanel();
}

}  // namespace headscope::app::map_page

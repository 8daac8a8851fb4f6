#include "app/pages/head_lab/map_view.h"

#include <fmt/core.h>

#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

VisibleCells windowOf(Index total, Index most, Index around) {
  const Index count = std::min(total, std::max<Index>(most, 1));
  return {std::clamp<Index>(around - count / 2, 0, total - count), count};
}

std::string visiblePartText(const VisibleCells& rows, Index queries, const VisibleCells& cols, Index keys) {
  if (rows.whole(queries) && cols.whole(keys)) return "";
  return fmt::format("rows {}–{} of {}, keys {}–{} of {}", rows.first, rows.end() - 1, queries, cols.first,
                     cols.end() - 1, keys);
}

std::string shortNumber(float value, bool weight) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : "";
  if (weight) {
    if (value == 0 || value < 0.005f) return "";
    const std::string text = fixedText(value, 2);
    return text.front() == '0' ? text.substr(1) : value == 1 ? "1" : text;
  }
  return fixedText(value, std::abs(value) >= 9.95f ? 0 : 1);
}

HeatTile MapView::tile() const {
  HeatTile tile;
  tile.area = cells;
  tile.row = static_cast<float>(rows.first);
  tile.col = static_cast<float>(cols.first);
  tile.rows = static_cast<float>(rows.count);
  tile.cols = static_cast<float>(cols.count);
  return tile;
}

MapView tokenMap(const Scene& scene, const State& page, const std::string& name, const ImRect& space,
                 Index queries, Index keys, const CellSizes& sizes) {
  const View& view = page.view;
  const Cell& at = scene.cursor.cell;
  // Another tab's map, hovered in the last frame, may have been larger.
  const auto marked = [](Index selected, Index hovered, Index count) {
    return Marked{std::min(selected, count - 1), hovered < count ? hovered : -1};
  };
  const auto part = [&](float room, Index count, Index around) {
    return windowOf(count, std::min(cellsThatFit(view, room, sizes.least), sizes.most),
                    std::min(around, count - 1));
  };
  MapView map;
  map.name = name;
  map.rows = part(space.GetHeight(), queries, at.query);
  map.cols = part(space.GetWidth(), keys, at.key);
  const auto rows = static_cast<float>(map.rows.count), cols = static_cast<float>(map.cols.count);
  float size = std::min({space.GetWidth() / cols, space.GetHeight() / rows, view.px(sizes.largest)});
  if (size >= 4) size = std::floor(size);
  const ImVec2 from(std::round(space.Min.x), std::round(space.Min.y));
  map.cells = ImRect(from, ImVec2(from.x + size * cols, from.y + size * rows));
  map.row = marked(at.query, view.hover.query, queries);
  map.col = marked(at.key, view.hover.key, keys);
  map.rowColor = view.theme->query;
  map.colColor = view.theme->key;
  return map;
}

namespace {

void paintNumbers(const Scene& scene, const State& page, const MapView& map,
                  const attention::Matrix& values) {
  const View& view = page.view;
  const HeatTile tile = map.tile();
  const float width = tile.cellWidth(), height = tile.cellHeight();
  if (map.ink != Ink::map || width < view.px(25) || height < view.px(17)) return;
  ImFont* font = width >= view.px(34) && height >= view.px(28) ? view.fonts->mono : view.fonts->monoSmall;
  Canvas list = *ImGui::GetWindowDrawList();
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col) {
      const std::string text = shortNumber(values(row, col), map.weights);
      if (text.empty() || textWidth(font, text) > width - view.px(3)) continue;
      const float t = (values(row, col) - map.low) / std::max(map.high - map.low, 1e-30f);
      const std::uint32_t ink =
          std::isfinite(values(row, col))
              ? inkOn(colorOn(*view.theme, map.colormap.value_or(scene.look.colormap), t))
              : inkOn({1, 0, 0.85f, 1});
      paintText(list, font,
                ImVec2(tile.x(static_cast<float>(map.cols.first + col) + 0.5f),
                       tile.y(static_cast<float>(map.rows.first + row) + 0.5f)),
                ink, text, Align::center);
    }
}

/// Outlines the selected row, column and cell, and the hovered row and column dashed.
void paintMarks(const View& view, const MapView& map) {
  Canvas list = *ImGui::GetWindowDrawList();
  const HeatTile tile = map.tile();
  const auto row = [&](Index at) {
    const float y = tile.y(static_cast<float>(at));
    return ImRect(map.cells.Min.x, y, map.cells.Max.x, std::max(tile.y(static_cast<float>(at + 1)), y + 2));
  };
  const auto column = [&](Index at) {
    const float x = tile.x(static_cast<float>(at));
    return ImRect(x, map.cells.Min.y, std::max(tile.x(static_cast<float>(at + 1)), x + 2), map.cells.Max.y);
  };
  const auto mark = [&](const Marked& marked, const VisibleCells& visible, auto place, std::uint32_t color) {
    if (marked.hovered != marked.selected && visible.has(marked.hovered))
      paintGhost(view, list, "ghost", place(marked.hovered), color);
    if (visible.has(marked.selected)) paintMark(view, list, "crosshair", place(marked.selected), color);
  };
  mark(map.row, map.rows, row, map.rowColor);
  mark(map.col, map.cols, column, map.colColor);
  if (!map.rows.has(map.row.selected) || !map.cols.has(map.col.selected)) return;
  const ImRect across = row(map.row.selected), down = column(map.col.selected);
  paintMark(view, list, "cell", {down.Min.x, across.Min.y, down.Max.x, across.Max.y}, view.theme->text,
            std::max(1.5f, view.px(2)));
}

}  // namespace

void paintMap(const Scene& scene, State& page, const MapView& map, const attention::Matrix& values) {
  const View& view = page.view;
  const HeatTile tile = map.tile();
  MatrixPicture picture;
  picture.name = "stage." + map.name;
  picture.ink = map.ink;
  picture.low = map.low;
  picture.high = map.high;
  picture.gap = std::min(tile.cellWidth(), tile.cellHeight()) >= view.px(8) ? std::max(1.0f, view.px(1)) : 0;
  Look look = scene.look;
  look.colormap = map.colormap.value_or(look.colormap);
  paintPicture(page.view, page.pictures, picture, values, map.cells, look);
  paintNumbers(scene, page, map, values);
  paintMarks(view, map);
}

MapHit hitMap(const MapView& map) {
  ImGui::SetCursorScreenPos(map.cells.Min);
  MapHit hit;
  const ImVec2 size = map.cells.GetSize();
  if (size.x < 1 || size.y < 1) return hit;
  hit.clicked = hitArea("stage." + map.name, size);
  noteTabStopKind(TabStopKind::picture, {map.tile().cellWidth(), map.tile().cellHeight()});
  trackCells("stage." + map.name, map.tile(), nullptr, nullptr);
  if (!ImGui::IsItemHovered()) return {};
  const auto cell = map.tile().cellAt(ImGui::GetIO().MousePos, map.rows.end(), map.cols.end());
  if (!cell) return {};
  hit.row = cell->row;
  hit.col = cell->col;
  return hit;
}

namespace {

/// Whether there is a name: at the hovered row or column, at the selected one, and elsewhere every `step`, as
/// far as they don't touch.
bool isNamed(const Marked& marked, Index at, Index step) {
  const auto beside = [&](Index mark) { return mark >= 0 && std::abs(at - mark) < step; };
  if (at == marked.hovered || beside(marked.hovered)) return at == marked.hovered;
  return at == marked.selected || (at % step == 0 && !beside(marked.selected));
}

std::uint32_t nameColor(const View& view, const Marked& marked, Index at, std::uint32_t selected) {
  return at == marked.selected ? selected : at == marked.hovered ? view.theme->text : view.theme->secondary;
}

}  // namespace

void rowNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens,
              float room) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const HeatTile tile = map.tile();
  trackCells("stage." + map.name, tile, &tokens, nullptr);
  ImFont* font = tile.cellHeight() >= view.px(22) ? view.fonts->mono : view.fonts->monoSmall;
  const auto step = static_cast<Index>(std::ceil(lineHeight(font) / std::max(tile.cellHeight(), 1.0f)));
  for (Index row = map.rows.first; row < map.rows.end(); ++row) {
    if (!isNamed(map.row, row, step)) continue;
    paintText(list, font, ImVec2(map.cells.Min.x - view.px(8), tile.y(static_cast<float>(row) + 0.5f)),
              nameColor(view, map.row, row, map.rowColor),
              fitted(font, tokens[static_cast<std::size_t>(row)].text, room - view.px(8)), Align::right);
  }
}

float rowNamesRoom(const View& view, const std::vector<attention::Token>& tokens, float most) {
  // Names beside high rows are in larger type.
  return std::min(longestLabel(view, tokens, view.px(most)) * 1.27f, view.px(most)) + view.px(14);
}

void columnNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const HeatTile tile = map.tile();
  trackCells("stage." + map.name, tile, nullptr, &tokens);
  ImFont* font = view.fonts->monoSmall;
  const auto step = static_cast<Index>(std::ceil(lineHeight(font) * 1.1f / std::max(tile.cellWidth(), 1.0f)));
  for (Index col = map.cols.first; col < map.cols.end(); ++col) {
    if (!isNamed(map.col, col, step)) continue;
    paintRotated(list, font,
                 ImVec2(tile.x(static_cast<float>(col) + 0.5f) + view.px(3), map.cells.Max.y + view.px(8)),
                 62, nameColor(view, map.col, col, map.colColor),
                 fitted(font, tokens[static_cast<std::size_t>(col)].text, view.px(64)));
  }
}

void axisTitles(const State& page, const MapView& map) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float x = map.cells.Min.x - view.px(8);
  paintText(list, view.fonts->small, ImVec2(x, map.cells.Min.y - view.px(10)), view.theme->query, "query ↓",
            Align::right);
  paintText(list, view.fonts->small, ImVec2(x, map.cells.Max.y + view.px(14)), view.theme->key, "key →",
            Align::right);
}

void paintTokenMap(const Scene& scene, State& page, const MapView& map, const attention::Matrix& values,
                   const SequenceSnapshot& sequence, float room) {
  paintMap(scene, page, map, map.visible(values));
  rowNames(page, map, sequence.queries, room);
  columnNames(page, map, sequence.keys);
  axisTitles(page, map);
}

void mapScale(const Scene& scene, const State& page, const MapView& map, ImVec2 right, float width,
              const std::string& middle) {
  const auto end = [](float value) {
    return value == std::round(value) ? fixedText(value, 0) : numberText(static_cast<double>(value), 3);
  };
  paintColourBar(page.view, map.colormap.value_or(scene.look.colormap), {end(map.low), middle, end(map.high)},
                 right, width);
}

void columnNumbers(const State& page, const MapView& map, std::uint32_t color) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const HeatTile tile = map.tile();
  ImFont* font = view.fonts->monoSmall;
  const float room = textWidth(font, std::to_string(map.cols.end())) + view.px(8);
  const auto step = static_cast<Index>(std::ceil(room / std::max(tile.cellWidth(), 1.0f)));
  for (Index col = map.cols.first; col < map.cols.end(); ++col) {
    if (isNamed(map.col, col, step))
      paintText(list, font, ImVec2(tile.x(static_cast<float>(col) + 0.5f), map.cells.Max.y + view.px(12)),
                nameColor(view, map.col, col, color), std::to_string(col), Align::center);
  }
}

Index cellsThatFit(const View& view, float pixels, float least) {
  return std::max<Index>(1, static_cast<Index>(pixels / view.px(least)));
}

void chooseCell(Scene& scene, State& page, const MapHit& hit) {
  if (hit.row < 0) return;
  // A random layer can be hovered before the scene's own layer exists, or without one.
  page.view.nextHover = {page.head ? page.head->question.head : scene.cursor.cell.head, hit.row, hit.col};
  if (hit.clicked) choose(scene.cursor, {scene.cursor.cell.head, hit.row, hit.col});
}

namespace {

constexpr float kTitle = MapSpacing{}.title;

void paintTitle(const State& page, const Look& look, Index head, const ImRect& cells) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.layer->config();
  paintHeadTitle(view, list, look, *page.layer->question.snapshot, page.layer->sequence(), head,
                 cells.Min - ImVec2(0, view.px(kTitle / 2 + 1)), cells.GetWidth(), false);
  if (config.kvHeads < config.heads)
    list.AddRectFilled(ImVec2(cells.Min.x, cells.Min.y - view.px(4)),
                       ImVec2(cells.Max.x, cells.Min.y - view.px(2)),
                       groupColor(*view.theme, config.kvHeadOf(head)));
}

void pointAt(Scene& scene, State& page, const std::string& name, const HeatTile& tile, Index n, Index m) {
  const bool clicked = hitArea(fmt::format("{}.{}", name, tile.head), tile.area);
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  if (!ImGui::IsItemHovered()) return;
  const auto cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (!cell) return;
  page.view.nextHover = {tile.head, cell->row, cell->col};
  if (clicked) choose(scene.cursor, {tile.head, cell->row, cell->col});
}

}  // namespace

MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys,
                const MapSpacing& spacing) {
  const float aspect = std::clamp(static_cast<float>(keys) / static_cast<float>(queries), 0.2f, 5.0f);
  MapGrid best;
  best.width = 0;
  for (int columns = 1; columns <= static_cast<int>(heads); ++columns) {
    const int rows = (static_cast<int>(heads) + columns - 1) / columns;
    const auto c = static_cast<float>(columns), r = static_cast<float>(rows);
    const float x = (area.x - view.px(spacing.x) * (c - 1)) / c,
                y = (area.y - view.px(spacing.y) * (r - 1)) / r - view.px(spacing.title);
    const float width = std::floor(std::min(x, y * aspect));
    if (width > best.width) best = {columns, rows, width, std::floor(width / aspect)};
  }
  best.width = std::max(best.width, 4.0f);
  best.height = std::max(best.height, 4.0f);
  return best;
}

NamedGrid namedGrid(const View& view, const ImRect& whole, const SequenceSnapshot& sequence, Index heads,
                    const MapSpacing& spacing) {
  const Index n = std::ssize(sequence.queries), m = std::ssize(sequence.keys);
  const MapGrid bare = mapGrid(view, whole.GetSize(), heads, n, m, spacing);
  NamedGrid named{whole, ImVec2(longestLabel(view, sequence.queries, view.px(96)) + view.px(14), view.px(60)),
                  bare};
  named.area.Min.x += named.room.x;
  named.area.Max.y -= named.room.y;
  named.grid = mapGrid(view, named.area.GetSize(), heads, n, m, spacing);
  if (named.grid.width >= view.px(view.present ? 64 : 90) && named.grid.width >= 0.7f * bare.width)
    return named;
  return {whole, {}, bare};
}

void paintTokenNames(const View& view, const SequenceSnapshot& sequence, const std::vector<HeatTile>& tiles,
                     const NamedGrid& named, const Cell& selected) {
  if (named.room.x <= 0) return;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<attention::Token> none;
  const auto columns = static_cast<std::size_t>(named.grid.columns);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool first = i % columns == 0, last = i + columns >= tiles.size();
    paintAxisLabels(view, list, tiles[i],
                    {first ? &sequence.queries : &none, last ? &sequence.keys : &none, selected.query,
                     selected.key, named.room.x, named.room.y});
  }
  const HeatTile& lowest = tiles[static_cast<std::size_t>(named.grid.rows - 1) * columns];
  paintAxisTitles(view, list, ImRect(tiles.front().area.Min, lowest.area.Max), named.room.x);
}

void headMaps(Scene& scene, State& page, const ImRect& whole, const std::string& name, bool eases) {
  View& view = page.view;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const Index heads = page.layer->config().heads;
  if (heads == 0 || n == 0 || m == 0) return;
  const NamedGrid named = namedGrid(view, whole, sequence, heads);
  const ImRect& area = named.area;
  const MapGrid& grid = named.grid;
  const auto c = static_cast<float>(grid.columns), r = static_cast<float>(grid.rows);
  const float stepX = grid.columns > 1 ? (area.GetWidth() - grid.width) / (c - 1) : 0;
  const float tall = grid.height + view.px(kTitle);
  const float stepY = grid.rows > 1 ? std::min((area.GetHeight() - tall) / (r - 1), tall + view.px(40)) : 0;
  const PictureLevel& level = sequence.pictures.levelFor(std::max(grid.width, grid.height));
  EasedTextures& textures = page.pictures[name];
  textures.set(level.weights, view.time, eases && !view.preferences.reducedMotion);
  Look look = scene.look;
  look.quantity = Quantity::weights;
  std::vector<HeatTile> tiles;
  std::vector<HeatmapTile> pictures;
  for (Index head = 0; head < heads; ++head) {
    const float x = std::round(area.Min.x + std::min(stepX, grid.width + view.px(60)) *
                                                static_cast<float>(head % grid.columns));
    const float y =
        std::round(area.Min.y + view.px(kTitle) + stepY * static_cast<float>(head / grid.columns));
    tiles.push_back({ImRect(x, y, x + grid.width, y + grid.height), 0, 0, static_cast<float>(n),
                     static_cast<float>(m), head, -1});
    pictures.push_back(pictureOf(tiles.back(), level.factor, rangeFor(look, sequence.pictures, head)));
    pictures.back().view.layer = static_cast<int>(head);
  }
  Canvas list = *ImGui::GetWindowDrawList();
  view.heatmaps->draw(list, textures, styleFor(view, look), std::move(pictures));
  const Cell cell = scene.cursor.cell;
  paintTokenNames(view, sequence, tiles, named, cell);
  for (const HeatTile& tile : tiles) {
    paintTitle(page, look, tile.head, tile.area);
    paintCrosshair(view, list, tile, cell.query, cell.key, n, m);
    pointAt(scene, page, name, tile, n, m);
  }
}

}  // namespace headscope::app::head_lab_page

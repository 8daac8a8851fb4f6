#include "app/labs/lab/head_maps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/token_labels.h"

namespace headscope::app {

namespace {

constexpr float kTitle = 26, kGapX = 18, kGapY = 10;

void paintTitle(const LabPage& page, const Look& look, const HeadMaps& maps, Index head,
                const ImRect& cells) {
  const View& view = page.view;
  const ImVec2 at(cells.Min.x, cells.Min.y - view.px(kTitle / 2 + 1));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = page.layer->config();
  if (maps.title)
    maps.title(head, at, cells.GetWidth());
  else
    paintHeadTitle(view, list, look, *page.layer->question.snapshot, page.layer->sequence(), head, at,
                   cells.GetWidth(), false);
  if (config.kvHeads < config.heads)
    list.AddRectFilled(ImVec2(cells.Min.x, cells.Min.y - view.px(4)),
                       ImVec2(cells.Max.x, cells.Min.y - view.px(2)),
                       groupColor(*view.theme, config.kvHeadOf(head)));
}

void pointAt(Scene& scene, LabPage& page, const HeadMaps& maps, const HeatTile& tile, Index n, Index m) {
  const std::string name = fmt::format("{}.{}", maps.name, tile.head);
  ImGui::SetCursorScreenPos(tile.area.Min);
  const bool clicked = ImGui::InvisibleButton(name.c_str(), tile.area.GetSize());
  trackItem(name);
  if (!ImGui::IsItemHovered()) return;
  const auto cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (!cell) return;
  page.view.nextHover = {tile.head, cell->row, cell->col};
  if (clicked) scene.cursor.cell = {tile.head, cell->row, cell->col};
}

/// What the tokens' names take at the left of the maps and below them; nothing where the maps would lose more
/// than they are worth.
ImVec2 nameRoom(const View& view, ImVec2 area, const SequenceSnapshot& sequence, Index heads) {
  const Index n = std::ssize(sequence.queries), m = std::ssize(sequence.keys);
  const ImVec2 room(longestLabel(view, sequence.queries, view.px(96)) + view.px(14), view.px(60));
  const MapGrid bare = mapGrid(view, area, heads, n, m),
                named = mapGrid(view, ImVec2(area.x - room.x, area.y - room.y), heads, n, m);
  return named.width >= view.px(100) && named.width >= 0.75f * bare.width ? room : ImVec2();
}

/// Queries beside the first map of a row, keys below a map that has none under it.
void paintNames(const LabPage& page, const HeatTile& tile, const MapGrid& grid, Index heads, ImVec2 room,
                const Cell& lit) {
  const SequenceSnapshot& sequence = page.layer->sequence();
  const std::vector<attention::Token> none;
  const bool first = tile.head % grid.columns == 0, last = tile.head + grid.columns >= heads;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  paintAxisLabels(page.view, list, tile,
                  {first ? &sequence.queries : &none, last ? &sequence.keys : &none, first ? lit.query : -1,
                   last ? lit.key : -1, room.x, room.y});
}

}  // namespace

MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys) {
  const float aspect = std::clamp(static_cast<float>(keys) / static_cast<float>(queries), 0.2f, 5.0f);
  MapGrid best;
  best.width = 0;
  for (int columns = 1; columns <= static_cast<int>(heads); ++columns) {
    const int rows = (static_cast<int>(heads) + columns - 1) / columns;
    const auto c = static_cast<float>(columns), r = static_cast<float>(rows);
    const float x = (area.x - view.px(kGapX) * (c - 1)) / c,
                y = (area.y - view.px(kGapY) * (r - 1)) / r - view.px(kTitle);
    const float width = std::floor(std::min(x, y * aspect));
    if (width > best.width) best = {columns, rows, width, std::floor(width / aspect)};
  }
  best.width = std::max(best.width, 4.0f);
  best.height = std::max(best.height, 4.0f);
  return best;
}

void headMaps(Scene& scene, LabPage& page, const ImRect& whole, const HeadMaps& maps) {
  View& view = page.view;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const Index heads = maps.values.count();
  if (heads == 0 || n == 0 || m == 0) return;
  const ImVec2 room = maps.names ? nameRoom(view, whole.GetSize(), sequence, heads) : ImVec2();
  const ImRect area(whole.Min.x + room.x, whole.Min.y, whole.Max.x, whole.Max.y - room.y);
  const MapGrid grid = mapGrid(view, area.GetSize(), heads, n, m);
  const auto c = static_cast<float>(grid.columns), r = static_cast<float>(grid.rows);
  const float stepX = grid.columns > 1 ? (area.GetWidth() - grid.width) / (c - 1) : 0;
  const float tall = grid.height + view.px(kTitle);
  const float stepY = grid.rows > 1 ? std::min((area.GetHeight() - tall) / (r - 1), tall + view.px(40)) : 0;
  EasedTextures& textures = page.pictures[maps.name];
  textures.set(maps.values, view.time, maps.eases && !view.preferences.reducedMotion);
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
    pictures.push_back(pictureOf(tiles.back(), maps.factor, maps.range(head)));
    pictures.back().view.layer = static_cast<int>(head);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  view.heatmaps->draw(list, textures, styleFor(view, look), std::move(pictures));
  const Cell& cell = scene.cursor.cell;
  const Index query = view.hover.query >= 0 ? view.hover.query : cell.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : cell.key;
  if (room.x > 0) {
    const HeatTile& lowest = tiles[static_cast<std::size_t>((grid.rows - 1) * grid.columns)];
    paintAxisTitles(view, list, ImRect(tiles.front().area.Min, lowest.area.Max), room.x);
  }
  for (const HeatTile& tile : tiles) {
    paintTitle(page, look, maps, tile.head, tile.area);
    if (room.x > 0) paintNames(page, tile, grid, heads, room, {tile.head, query, key});
    paintCrosshair(view, list, tile, query, key, n, m);
    pointAt(scene, page, maps, tile, n, m);
  }
}

}  // namespace headscope::app

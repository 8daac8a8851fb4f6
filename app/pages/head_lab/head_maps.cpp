#include "app/pages/head_lab/head_maps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/token_labels.h"

namespace headscope::app::head_lab_page {

namespace {

constexpr float kTitle = MapSpacing{}.title;

void paintTitle(const State& page, const Look& look, const HeadMaps& maps, Index head, const ImRect& cells) {
  const View& view = page.view;
  const ImVec2 at(cells.Min.x, cells.Min.y - view.px(kTitle / 2 + 1));
  Canvas list = *ImGui::GetWindowDrawList();
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

void pointAt(Scene& scene, State& page, const HeadMaps& maps, const HeatTile& tile, Index n, Index m) {
  const std::string name = fmt::format("{}.{}", maps.name, tile.head);
  const bool clicked = hitArea(name, tile.area);
  noteTabStopKind(TabStopKind::picture, {tile.cellWidth(), tile.cellHeight()});
  if (!ImGui::IsItemHovered()) return;
  const auto cell = tile.cellAt(ImGui::GetIO().MousePos, n, m);
  if (!cell) return;
  page.view.nextHover = {tile.head, cell->row, cell->col};
  if (clicked) scene.cursor.cell = {tile.head, cell->row, cell->col};
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
                     const NamedGrid& named, const Cell& lit) {
  if (named.room.x <= 0) return;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<attention::Token> none;
  const auto columns = static_cast<std::size_t>(named.grid.columns);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool first = i % columns == 0, last = i + columns >= tiles.size();
    paintAxisLabels(view, list, tiles[i],
                    {first ? &sequence.queries : &none, last ? &sequence.keys : &none, first ? lit.query : -1,
                     last ? lit.key : -1, named.room.x, named.room.y});
  }
  const HeatTile& lowest = tiles[static_cast<std::size_t>(named.grid.rows - 1) * columns];
  paintAxisTitles(view, list, ImRect(tiles.front().area.Min, lowest.area.Max), named.room.x);
}

void headMaps(Scene& scene, State& page, const ImRect& whole, const HeadMaps& maps) {
  View& view = page.view;
  const SequenceSnapshot& sequence = page.layer->sequence();
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  const Index heads = maps.values.count();
  if (heads == 0 || n == 0 || m == 0) return;
  const NamedGrid named = maps.names ? namedGrid(view, whole, sequence, heads)
                                     : NamedGrid{whole, {}, mapGrid(view, whole.GetSize(), heads, n, m)};
  const ImRect& area = named.area;
  const MapGrid& grid = named.grid;
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
  Canvas list = *ImGui::GetWindowDrawList();
  view.heatmaps->draw(list, textures, styleFor(view, look), std::move(pictures));
  const Cell& cell = scene.cursor.cell;
  const Index query = view.hover.query >= 0 ? view.hover.query : cell.query;
  const Index key = view.hover.key >= 0 ? view.hover.key : cell.key;
  paintTokenNames(view, sequence, tiles, named, {-1, query, key});
  for (const HeatTile& tile : tiles) {
    paintTitle(page, look, maps, tile.head, tile.area);
    paintCrosshair(view, list, tile, query, key, n, m);
    pointAt(scene, page, maps, tile, n, m);
  }
}

}  // namespace headscope::app::head_lab_page

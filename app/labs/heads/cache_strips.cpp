#include "app/labs/heads/cache_strips.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/platform/track.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/marks.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Keys in shades of the key colour, values in shades of the value colour.
render::HeatmapStyle styleForCache(const View& view, bool values) {
  render::HeatmapStyle style;
  style.background = unpacked(view.theme->background);
  style.maskedHatch = style.deadHatch = style.background;
  style.gap = std::max(1.0f, std::round(view.unit));
  style.tint =
      render::Tint{unpacked(view.theme->raised), unpacked(values ? view.theme->value : view.theme->key)};
  return style;
}

/// The strips' columns, one for each key.
struct StripColumns {
  ImRect cells;     ///< all that the strips may take; the columns begin at its left
  float width = 1;  ///< of one column, in pixels
  Index count = 0;

  float at(Index key) const { return cells.Min.x + width * static_cast<float>(key); }
  float right() const { return at(count); }
};

/// K (or V) of `heads` kv heads from `first` on, in every second row.
void drawStrips(HeadsPage& page, const StripColumns& columns, float labelsAt, Index first, Index heads,
                bool values) {
  View& view = page.view;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImRect& cells = columns.cells;
  const float space = view.px(view.present ? 2 : 4),
              height = cells.GetHeight() / static_cast<float>(2 * heads) - space;
  std::vector<HeatmapTile> tiles;
  for (Index i = 0; i < heads; ++i) {
    const float y = std::round(cells.Min.y + static_cast<float>(2 * i + values) * (height + space));
    HeatmapTile tile;
    tile.view.target = {cells.Min.x, y, columns.right(), y + std::round(height)};
    tile.view.clip = tile.view.target;
    tile.view.layer = static_cast<int>(2 * (first + i) + values);
    tile.view.rows = static_cast<float>(page.cache.current().rows());
    tile.view.cols = static_cast<float>(columns.count);
    tiles.push_back(tile);
    paintText(list, view.fonts->monoSmall, ImVec2(labelsAt, y + height / 2),
              values ? view.theme->value : view.theme->key,
              fmt::format("{} {}", values ? "V" : "K", first + i));
  }
  view.heatmaps->draw(list, page.cache, styleForCache(view, values), std::move(tiles));
}

/// Lines between the columns, the dark over what is not cached yet, and outlines of the pointed and the
/// newest column.
void paintColumns(const Scene& scene, const View& view, const StripColumns& columns, const CacheState& state,
                  Index key) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = columns.cells.Min.y, bottom = columns.cells.Max.y;
  // Between the columns a line of background, where there is room for one.
  if (columns.width > view.px(10))
    for (Index j = 1; j < columns.count; ++j) {
      const float x = std::round(columns.at(j));
      list.AddRectFilled(ImVec2(x - view.px(1.5f), top), ImVec2(x + view.px(1.5f), bottom),
                         view.theme->background);
    }
  if (state.now < columns.count)  // what is not in the cache yet stays in the dark
    list.AddRectFilled(ImVec2(columns.at(state.now), top), ImVec2(columns.right(), bottom),
                       faded(view.theme->background, 0.95f));
  const auto outline = [&](Index j, std::uint32_t color) {
    paintMark(view, list, "column", {ImVec2(columns.at(j), top), ImVec2(columns.at(j + 1), bottom)}, color);
  };
  if (key >= 0 && key < columns.count) outline(key, view.theme->key);
  if (scene.cursor.decoding && state.reason.empty()) outline(state.now - 1, view.theme->query);
}

/// The keys' tokens below the columns, thinned until they don't touch.
void paintKeys(const Scene& scene, const View& view, const StripColumns& columns, const CacheState& state,
               const std::vector<attention::Token>& keys, Index key, ImVec2 end) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImFont* font = view.fonts->monoSmall;
  const Index step = std::max<Index>(1, static_cast<Index>(std::ceil(view.px(42) / columns.width)));
  for (Index j = 0; j < columns.count; j += step) {
    const bool newest = scene.cursor.decoding && j == state.now - 1;
    const float before = columns.width * static_cast<float>(j);
    paintText(list, font, ImVec2(columns.at(j) + view.px(2), end.y),
              newest          ? view.theme->query
              : j == key      ? view.theme->key
              : j < state.now ? view.theme->secondary
                              : view.theme->faint,
              fitted(font, keys[static_cast<std::size_t>(j)].text,
                     std::min(columns.width * static_cast<float>(step) - view.px(6),
                              end.x - columns.cells.Min.x - before)));
  }
}

}  // namespace

ShownHeads shownHeads(const Scene& scene, const Snapshot& snapshot, const View& view, float height) {
  const Index kvHeads = snapshot.config.kvHeads;
  const Index count =
      std::clamp<Index>(static_cast<Index>(height / view.px(view.present ? 20 : 30)), 1, kvHeads);
  const Index wanted =
      snapshot.config.kvHeadOf(std::clamp<Index>(scene.cursor.cell.head, 0, snapshot.config.heads - 1));
  return {std::clamp<Index>(wanted - count / 2, 0, kvHeads - count), count};
}

void cacheStrips(Scene& scene, HeadsPage& page, const SequenceSnapshot& sequence, const CacheState& state,
                 const ImRect& area) {
  View& view = page.view;
  const Index m = sequence.attention.k.rows();
  const float labels = view.px(44), foot = view.px(18);
  const ImRect cells(area.Min.x + labels, area.Min.y, area.Max.x, area.Max.y - foot);
  const StripColumns columns{
      cells, std::min(cells.GetWidth() / static_cast<float>(std::max<Index>(m, 1)), view.px(160)), m};
  const auto [first, heads] = shownHeads(scene, *page.snapshot, view, cells.GetHeight());
  for (const bool values : {false, true}) drawStrips(page, columns, area.Min.x, first, heads, values);
  const Index key = view.hover.key >= 0 ? view.hover.key : scene.cursor.cell.key;
  paintColumns(scene, view, columns, state, key);
  paintKeys(scene, view, columns, state, sequence.keys, key, ImVec2(area.Max.x, area.Max.y - foot / 2));
  track("cache.strips", cells.Min, ImVec2(columns.right(), cells.Max.y));
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!ImGui::IsWindowHovered() || mouse.x < cells.Min.x || mouse.x >= columns.right() ||
      mouse.y < cells.Min.y || mouse.y >= area.Max.y)
    return;
  view.nextHover.key = static_cast<Index>((mouse.x - cells.Min.x) / columns.width);
  if (!ImGui::IsMouseClicked(1)) return;
  offerForToken(scene, page, false, view.nextHover.key);
  view.menu.emplace_back("picture.save_cache");
}

}  // namespace headscope::app

#include "app/pages/map/map_page.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app::map_page {

namespace {

/// A tile that can be drawn: the requested one, or a coarser one that covers the same cells.
struct Found {
  TileKey key;
  Tile tile;
};
std::optional<Found> findTile(State& page, TileKey key) {
  for (const int last = page.state->levels.single; key.place.level <= last;) {
    if (auto tile = page.cache->find(key)) return Found{key, *std::move(tile)};
    key.place = {key.place.level + 1, key.place.row / 2, key.place.col / 2};
  }
  return std::nullopt;
}

/// The tiles of a level that intersect the window.
struct TileRange {
  Index firstRow = 0, endRow = 0, firstCol = 0, endCol = 0;
  Index count() const { return (endRow - firstRow) * (endCol - firstCol); }
};
TileRange tilesInSight(const MapWindow& window, int level) {
  const double side = static_cast<double>(kTileSide * factorOf(level));
  const auto range = [&](double from, double to, Index tiles, Index& first, Index& end) {
    first = std::clamp<Index>(static_cast<Index>(std::floor(from / side)), 0, tiles);
    end = std::clamp<Index>(static_cast<Index>(std::ceil(to / side)), first, tiles);
  };
  TileRange in;
  range(window.row, window.rowAt(window.area.Max.y), tilesAt(window.n, level), in.firstRow, in.endRow);
  range(window.col, window.colAt(window.area.Max.x), tilesAt(window.m, level), in.firstCol, in.endCol);
  return in;
}

/// The tiles in order of distance from the middle, where people look first.
std::vector<TilePlace> middleFirst(const TileRange& in, int level) {
  std::vector<TilePlace> places;
  for (Index row = in.firstRow; row < in.endRow; ++row)
    for (Index col = in.firstCol; col < in.endCol; ++col) places.push_back({level, row, col});
  const double middleRow = static_cast<double>(in.firstRow + in.endRow - 1) / 2,
               middleCol = static_cast<double>(in.firstCol + in.endCol - 1) / 2;
  const auto distance = [&](const TilePlace& place) {
    return std::hypot(static_cast<double>(place.row) - middleRow, static_cast<double>(place.col) - middleCol);
  };
  std::stable_sort(places.begin(), places.end(),
                   [&](const TilePlace& a, const TilePlace& b) { return distance(a) < distance(b); });
  return places;
}

/// The ring of tiles around the visible ones.
std::vector<TilePlace> around(const TileRange& in, int level, const MapWindow& window) {
  std::vector<TilePlace> places;
  for (Index row = in.firstRow - 1; row <= in.endRow; ++row)
    for (Index col = in.firstCol - 1; col <= in.endCol; ++col) {
      const bool inside = row >= in.firstRow && row < in.endRow && col >= in.firstCol && col < in.endCol;
      if (!inside && row >= 0 && col >= 0 && row < tilesAt(window.n, level) && col < tilesAt(window.m, level))
        places.push_back({level, row, col});
    }
  return places;
}

/// The tile at `place`, positioned in the window, as the corresponding part of `found`.
HeatmapTile placed(const MapWindow& window, const TilePlace& place, const Found& found, int layer) {
  const Index factor = factorOf(place.level), firstRow = place.row * kTileSide,
              firstCol = place.col * kTileSide;
  const Index rows = std::min(kTileSide, pixelsAt(window.n, place.level) - firstRow);
  const Index cols = std::min(kTileSide, pixelsAt(window.m, place.level) - firstCol);
  const auto x = [&](Index pixel) { return window.x(static_cast<double>(pixel * factor)); };
  const auto y = [&](Index pixel) { return window.y(static_cast<double>(pixel * factor)); };
  HeatmapTile tile;
  tile.view.target = {x(firstCol), y(firstRow), x(firstCol + cols), y(firstRow + rows)};
  const ImRect cells = window.cells();
  tile.view.clip = {cells.Min.x, cells.Min.y, cells.Max.x, cells.Max.y};
  tile.view.layer = layer;
  const double scale = 1 / static_cast<double>(factorOf(found.key.place.level - place.level));
  const auto at = [&](Index pixel, Index tileOfFound) {
    return static_cast<float>(static_cast<double>(pixel) * scale -
                              static_cast<double>(tileOfFound * kTileSide));
  };
  tile.view.firstRow = at(firstRow, found.key.place.row);
  tile.view.firstCol = at(firstCol, found.key.place.col);
  tile.view.rows = static_cast<float>(static_cast<double>(rows) * scale);
  tile.view.cols = static_cast<float>(static_cast<double>(cols) * scale);
  return tile;
}

void send(const Look& look, const ValueRange& range, State& page, Canvas list,
          std::vector<HeatmapTile> tiles) {
  View& view = page.view;
  for (HeatmapTile& tile : tiles) tile.range = range;
  view.heatmaps->draw(list, page.textures->textures(), styleFor(view, look), std::move(tiles));
}

}  // namespace

Look mapLook(const Scene& scene) {
  Look look = scene.look;
  look.quantity = Quantity::weights;
  look.range = scene.map.range.value_or(look.range);
  look.colormap = scene.map.colormap.value_or(look.colormap);
  if (look.range == RangeMode::shared) look.range = RangeMode::perHead;
  return look;
}

ValueRange shownRange(const State& page, const Look& look) {
  if (look.range == RangeMode::logarithmic) {
    // The lower end is at most the weight in a row that attends to all keys equally.
    const double even = 1 / static_cast<double>(std::max<Index>(1, page.state->keys));
    return {static_cast<float>(std::min(1e-4, std::pow(10, std::floor(std::log10(even))))), 1, true};
  }
  const bool brightest = look.range != RangeMode::unit && page.brightest > 0;
  return {0, brightest ? page.brightest : 1, false};
}

namespace {

/// The levels from which a window is drawn, and the tiles in it.
struct DrawnLevels {
  int needed = 0;                 ///< one of its pixels covers at least one screen pixel
  int finest = 0;                 ///< the next finer one, if there is space for it
  std::vector<TilePlace> places;  ///< of the finest
};

/// Drawing from the finer level gives edges steps of one screen pixel instead of two. If that level isn't in
/// the overview, its tiles are made once everything else is done.
DrawnLevels drawnLevels(const MapWindow& window, State& page) {
  const OverviewLevels& held = page.state->levels;
  constexpr Index kMax = 180;  // of the 256 layers, which leaves space for coarser tiles drawn meanwhile
  const auto fits = [&](int level) { return tilesInSight(window, level).count() <= kMax; };
  DrawnLevels drawn;
  drawn.needed = std::min(window.level(), held.single);
  while (drawn.needed < held.single && !fits(drawn.needed)) ++drawn.needed;
  const int finer = std::min(window.finerLevel(), held.single);
  drawn.finest = fits(finer) ? std::min(finer, drawn.needed) : drawn.needed;
  const TileRange in = tilesInSight(window, drawn.needed);
  drawn.places = middleFirst(tilesInSight(window, drawn.finest), drawn.finest);
  if (drawn.finest < held.finest) page.near = drawn.places;
  if (drawn.needed < held.finest) {
    page.visible = middleFirst(in, drawn.needed);
    const std::vector<TilePlace> ring = around(in, drawn.needed, window);
    page.near.insert(page.near.end(), ring.begin(), ring.end());
  }
  return drawn;
}

}  // namespace

void drawTiles(const Scene& scene, State& page, Canvas list, const MapWindow& window) {
  const MapSnapshot& state = *page.state;
  const DrawnLevels drawn = drawnLevels(window, page);
  page.level = drawn.finest;
  std::vector<HeatmapTile> tiles;
  float brightest = 0;
  page.preview = page.coarser = false;
  try {
    for (const TilePlace& place : drawn.places) {
      page.inView.push_back({state.field, scene.map.pooling, place});
      std::optional<Found> found = findTile(page, page.inView.back());
      while (found) {
        if (const auto layer = page.textures->layerOf(found->key, found->tile)) {
          tiles.push_back(placed(window, place, *found, *layer));
          tiles.back().view.pooling =
              scene.map.pooling == Pooling::max ? render::CellPooling::max : render::CellPooling::mean;
          break;
        }
        // Its upload was put off; a coarser tile may be on the GPU already.
        const TilePlace& fine = found->key.place;
        TileKey coarser = found->key;
        coarser.place = {fine.level + 1, fine.row / 2, fine.col / 2};
        found = findTile(page, coarser);
      }
      if (!found || found->key.place.level > drawn.needed) page.coarser = true;
      if (!found || found->key.place != place) page.level = drawn.needed;
      if (!found) continue;
      if (found->key.place != place) page.inView.push_back(found->key);
      page.preview = page.preview || found->tile.preview;
      brightest = std::max(brightest, found->tile.most);
    }
    page.trouble.clear();
  } catch (const std::runtime_error& broken) {
    page.trouble = broken.what();
    return;
  }
  page.brightest = brightest;
  const Look look = mapLook(scene);
  send(look, shownRange(page, look), page, list, std::move(tiles));
}

bool drawWhole(const Scene& scene, State& page, Canvas list, const ImRect& area) {
  if (!page.state || page.state->empty || !page.trouble.empty()) return false;
  const TileKey key{page.state->field, scene.map.pooling, {page.state->levels.single, 0, 0}};
  const std::optional<Tile> tile = page.cache->find(key);
  if (!tile) return false;
  page.inView.push_back(key);
  const std::optional<int> layer = page.textures->layerOf(key, *tile);
  if (!layer) return false;
  const MapWindow whole = wholeWindow(area, page.state->queries, page.state->keys);
  const Look look = mapLook(scene);
  ValueRange range = shownRange(page, look);
  // The brightest value in the window may be far from the brightest of the whole head.
  if (look.range == RangeMode::perHead && tile->most > 0) range.high = tile->most;
  HeatmapTile picture = placed(whole, key.place, {key, *tile}, *layer);
  picture.view.pooling =
      scene.map.pooling == Pooling::max ? render::CellPooling::max : render::CellPooling::mean;
  send(look, range, page, list, {picture});
  return true;
}

std::optional<ShownValue> shownValue(State& page, Pooling pooling, int level, Index query, Index key) {
  const Index row = query / factorOf(level), col = key / factorOf(level);
  const TilePlace place{level, row / kTileSide, col / kTileSide};
  const std::optional<Tile> tile = page.cache->find({page.state->field, pooling, place});
  if (!tile) return std::nullopt;
  return ShownValue{(*tile->values)(row % kTileSide, col % kTileSide), tile->preview};
}

std::string tokenAt(const std::vector<attention::Token>& tokens, Index at) {
  return at < static_cast<Index>(tokens.size()) ? tokens[asSize(at)].text : "";
}

namespace {

/// Draws "12,288 animal" left of a row, with a tick if rows are thinner than their label. Words take at most
/// `words` pixels, so that the numbers align in a column. `ink` is that of a row pointed out, otherwise 0.
void rowLabel(const View& view, Canvas list, const MapWindow& window, float edge, const MapText& text,
              Index row, std::uint32_t ink, float words) {
  const float y = window.y(static_cast<double>(row) + 0.5);
  if (y < window.area.Min.y || y > window.area.Max.y) return;
  const Theme& theme = *view.theme;
  const std::uint32_t color = ink ? ink : theme.secondary;
  ImFont* font = view.fonts->monoSmall;
  if (window.cellPixels() < view.px(6))
    list.AddLine(ImVec2(edge - view.px(4), y), ImVec2(edge - view.px(1), y), ink ? ink : theme.line);
  const float x = edge - view.px(8), gap = words > 0 ? view.px(8) : 0;
  paintText(list, font, ImVec2(x, y), color, fitted(font, tokenAt(text.queries, row), words), Align::right);
  paintText(list, font, ImVec2(x - words - gap, y), ink ? ink : theme.faint, countText(row), Align::right);
}

/// Draws number and token below a column or, if columns are narrow and all are labelled, the turned token.
void keyLabel(const View& view, Canvas list, const MapWindow& window, float edge, const MapText& text,
              Index key, std::uint32_t ink, bool turned) {
  const float x = window.x(static_cast<double>(key) + 0.5);
  if (x < window.area.Min.x || x > window.area.Max.x) return;
  const Theme& theme = *view.theme;
  const std::uint32_t color = ink ? ink : theme.secondary;
  ImFont* font = view.fonts->monoSmall;
  const std::string token = tokenAt(text.keys, key);
  const std::string number = countText(key);
  if (turned) {
    constexpr float kDegrees = 62;
    const float longest = view.px(kMapBottom - 12) / std::sin(kDegrees * 3.14159f / 180);
    paintRotated(list, font, ImVec2(x + view.px(3), edge + view.px(6)), kDegrees, color,
                 fitted(font, token.empty() ? number : token, longest));
    return;
  }
  if (window.cellPixels() < view.px(6))
    list.AddLine(ImVec2(x, edge + view.px(1)), ImVec2(x, edge + view.px(4)), ink ? ink : theme.line);
  paintText(list, font, ImVec2(x, edge + view.px(13)), ink ? ink : theme.faint, number, Align::center);
  if (!token.empty())
    paintText(list, font, ImVec2(x, edge + view.px(29)), color, fitted(font, token, view.px(84)),
              Align::center);
}

}  // namespace

void paintMapAxes(const View& view, Canvas list, const MapWindow& window, const MapText& text, Index litQuery,
                  Index litKey) {
  const Theme& theme = *view.theme;
  Index overQuery = view.hover.query, overKey = view.hover.key;
  if (view.figure) litQuery = litKey = overQuery = overKey = -1;
  const ImRect cells = window.cells();
  const float rowRoom = lineHeight(view.fonts->monoSmall) * 1.15f;
  const Index rowStep = labelStep(window, rowRoom);
  const std::vector<Index> rows =
      labelledPositions(window.row, window.rowAt(window.area.Max.y), window.n, rowStep,
                        static_cast<double>(rowRoom) * window.cellsPerPixel, {litQuery, overQuery});
  float words = 0, numbers = 0;
  for (const Index row : rows) {
    words = std::max(words, textWidth(view.fonts->monoSmall, tokenAt(text.queries, row)));
    numbers = std::max(numbers, textWidth(view.fonts->monoSmall, countText(row)));
  }
  words = std::min(words, view.px(kMapLeft - 26) - numbers);
  for (const Index row : rows) {
    const std::uint32_t ink = row == litQuery ? theme.query : row == overQuery ? theme.text : 0;
    rowLabel(view, list, window, cells.Min.x, text, row, ink, words);
  }
  // A turned label is as wide as a row's is high.
  const float wide = view.px(92);
  const bool turned = labelStep(window, wide) > 1 && labelStep(window, rowRoom) == 1;
  const float keyRoom = turned ? rowRoom : wide;
  for (const Index key : labelledPositions(
           window.col, window.colAt(window.area.Max.x), window.m, labelStep(window, keyRoom),
           static_cast<double>(turned ? view.px(52) : wide) * window.cellsPerPixel, {litKey, overKey})) {
    const std::uint32_t ink = key == litKey ? theme.key : key == overKey ? theme.text : 0;
    keyLabel(view, list, window, cells.Max.y, text, key, ink, turned && key != litKey);
  }
  // Next to the first labels, which lie below and left of the corners.
  const ImRect corner(cells.Min.x - view.px(28), cells.Min.y - view.px(4), cells.Max.x, cells.Max.y);
  paintAxisTitles(view, list, corner, view.px(kMapLeft - 36));
}

}  // namespace headscope::app::map_page

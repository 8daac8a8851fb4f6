#pragma once

#include "app/pages/head_lab/head_lab_page.h"
#include "app/widgets/heat_tile.h"

namespace headscope::app::head_lab_page {

/// The visible rows or columns of a matrix.
struct VisibleCells {
  Index first = 0, count = 0;
  bool whole(Index total) const { return count == total; }
  bool has(Index at) const { return at >= first && at < end(); }
  Index end() const { return first + count; }
};
/// The selected row or column, drawn solid, and the hovered one, drawn dashed; −1 = none.
struct Marked {
  Index selected = -1, hovered = -1;
};
/// At most `most` of `total`, centred on `around` if possible.
VisibleCells windowOf(Index total, Index most, Index around);
/// "rows 5–16 of 40, keys 0–11 of 40"; "" if everything is visible.
std::string visiblePartText(const VisibleCells& rows, Index queries, const VisibleCells& cols, Index keys);

/// A matrix drawn cell by cell: its place, its visible part, and its marks.
struct MapView {
  std::string name;  ///< of the place; tests find it as "stage.NAME"
  Ink ink = Ink::map;
  ImRect cells;
  VisibleCells rows, cols;
  Marked row, col;
  std::uint32_t rowColor = 0, colColor = 0;
  float low = 0, high = 1;
  bool weights = false;                                     ///< numbers are written like ".88"
  std::optional<render::Colormap> colormap = std::nullopt;  ///< replaces the scene's

  /// The visible part of the matrix.
  attention::Matrix visible(const attention::Matrix& values) const {
    return values.block(rows.first, cols.first, rows.count, cols.count);
  }
  /// The map for the widgets: the visible cells, in rows and columns of the matrix.
  HeatTile tile() const;
};

/// The sizes of a map's cells, in layout units, and the most that are shown along a side.
struct CellSizes {
  float least = 12, largest = 40;
  Index most = 64;
};
/// A map of queries × keys that fills `space` with square cells: the part around the selected cell that fits,
/// with the selected and the hovered cell marked.
MapView tokenMap(const Scene& scene, const State& page, const std::string& name, const ImRect& space,
                 Index queries, Index keys, const CellSizes& sizes);

/// Draws the map with its marks, and numbers if cells are large enough. `values`: the visible ones.
void paintMap(const Scene& scene, State& page, const MapView& map, const attention::Matrix& values);
/// The hovered cell of the matrix (−1 = none), and whether it was clicked.
struct MapHit {
  Index row = -1, col = -1;
  bool clicked = false;
};
MapHit hitMap(const MapView& map);

/// Draws token names left of a map, right-aligned at its edge, or turned ones below it. Skips names that
/// would overlap others, but never those of the marked rows and columns.
void rowNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens, float room);
void columnNames(const State& page, const MapView& map, const std::vector<attention::Token>& tokens);
/// The width that row names need, at most `most` layout units and a gap.
float rowNamesRoom(const View& view, const std::vector<attention::Token>& tokens, float most);
/// Draws "query ↓" above the row names and "key →" next to the column names.
void axisTitles(const State& page, const MapView& map);
/// Draws the visible part of `values` in such a map, with the tokens' names in `room` pixels on the left, and
/// the axes' titles.
void paintTokenMap(const Scene& scene, State& page, const MapView& map, const attention::Matrix& values,
                   const SequenceSnapshot& sequence, float room);
/// Draws the map's colour bar with the values at its ends; `right` is the bar's right end.
void mapScale(const Scene& scene, const State& page, const MapView& map, ImVec2 right, float width,
              const std::string& middle = "");
/// Draws the column numbers below a map.
void columnNumbers(const State& page, const MapView& map, std::uint32_t color);

/// The number of cells of at least `least` units that fit, at least one.
Index cellsThatFit(const View& view, float pixels, float least);
/// On a map of queries × keys: a click selects the hovered cell, or lets it go.
void chooseCell(Scene& scene, State& page, const MapHit& hit);

/// A short number for a cell. Weights: ".88" for 0.88, "" below 0.005. Others: one decimal, none from ten on.
std::string shortNumber(float value, bool weight);

/// A grid of maps that are as large as the area allows.
struct MapGrid {
  int columns = 1, rows = 1;
  float width = 1, height = 1;  ///< of one map, in pixels
};
/// The gaps between maps and the title height above each, in layout units.
struct MapSpacing {
  float x = 18, y = 10, title = 26;
};
MapGrid mapGrid(const View& view, ImVec2 area, Index heads, Index queries, Index keys,
                const MapSpacing& spacing = {});

/// A grid with space for the tokens' names on the left and below, if the maps don't shrink too much for it.
struct NamedGrid {
  ImRect area;  ///< of the maps
  ImVec2 room;  ///< for names; 0 = no names
  MapGrid grid;
};
NamedGrid namedGrid(const View& view, const ImRect& whole, const SequenceSnapshot& sequence, Index heads,
                    const MapSpacing& spacing = {});
/// Labels the queries left of each row's first map, the keys below each column's last map, and the axes.
/// Draws nothing if `named` has no space for names. `selected`: query and key; −1 = none.
void paintTokenNames(const View& view, const SequenceSnapshot& sequence, const std::vector<HeatTile>& tiles,
                     const NamedGrid& named, const Cell& selected);

/// Draws the weights of all heads of the layer as maps of queries × keys, with the tokens' names and with the
/// same value ranges as on Heads; tests find the maps as NAME.0, NAME.1, …. `eases`: new weights ease in from
/// the last ones. A click selects head, query and key, or lets them go.
void headMaps(Scene& scene, State& page, const ImRect& area, const std::string& name, bool eases);

}  // namespace headscope::app::head_lab_page

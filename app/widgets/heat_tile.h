#pragma once

#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Returns what a head appears to do, for tight spaces: "prev", "2 back", "mixed", … Otherwise use
/// attention::describe().
std::string headWord(const attention::HeadLabel& label);

/// The placement of one heatmap on screen. Everything drawn over its cells uses it, so labels, crosshairs and
/// numbers match the picture.
struct HeatTile {
  ImRect area;               ///< the cells, in pixels
  float row = 0, col = 0;    ///< the top left cell, fractional while panning
  float rows = 1, cols = 1;  ///< cells across the area
  Index head = 0;
  Index decodedRows = -1;  ///< while decoding: rows from here on don't exist yet; −1 = all do

  float cellHeight() const { return area.GetHeight() / rows; }
  float cellWidth() const { return area.GetWidth() / cols; }
  float x(float col_) const { return area.Min.x + (col_ - col) * cellWidth(); }
  float y(float row_) const { return area.Min.y + (row_ - row) * cellHeight(); }
  /// Returns the cell under a point, if it is inside the area and the n × m matrix.
  struct RowCol {
    Index row, col;
  };
  std::optional<RowCol> cellAt(ImVec2 point, Index n, Index m) const;
};

/// Records where the tokens' cells are in the picture tracked as `name`.
void trackCells(const std::string& name, const HeatTile& tile, const std::vector<attention::Token>* rows,
                const std::vector<attention::Token>* columns);

/// Returns the picture of a tile for matrices pooled by factor × factor.
HeatmapTile pictureOf(const HeatTile& tile, int factor, const ValueRange& range);
render::HeatmapStyle styleFor(const View& view, render::Colormap colormap);
render::HeatmapStyle styleFor(const View& view, const Look& look);

/// What a colormap is on the theme's page: the middle of the diverging one is as light or dark as the page.
std::optional<render::Tint> tintOn(const Theme& theme, render::Colormap colormap);
/// Its colour at `t`, 0 to 1.
render::Color colorOn(const Theme& theme, render::Colormap colormap, float t);

/// Paints the crosshair inside the tile: the selected query's row in orange and the key's column in blue; the
/// hovered ones dashed.
void paintCrosshair(const View& view, Canvas list, const HeatTile& tile, Index query, Index key, Index n,
                    Index m);

/// The same for a hovered place other than the window's.
void paintCrosshairs(const View& view, Canvas list, const HeatTile& tile, const Crosshair& selected,
                     const Crosshair& hovered, Index n, Index m);

/// Returns which of the positions from `first` to `last`, of `total`, to label: those pointed out, then the
/// multiples of `step`, each at least `room` positions from those pointed out before it.
std::vector<Index> labelledPositions(double first, double last, Index total, Index step, double room,
                                     std::initializer_list<Index> pointedOut);

/// Row labels right-aligned left of the area, and turned column labels below it. Labels are thinned until
/// none touch; the selected query and key, in their colours, keep theirs, then the hovered ones.
struct AxisLabels {
  const std::vector<attention::Token>* queries;
  const std::vector<attention::Token>* keys;
  Index litQuery = -1, litKey = -1;
  float leftRoom = 0, bottomRoom = 0;  ///< pixels
  bool large = false;
};
/// The token whose label is under the pointer. `query` = a row label, on the left.
struct LabelUnder {
  bool query = true;
  Index at = 0;
};
/// Highlights it. Returns it if it was right-clicked.
std::optional<LabelUnder> clickedLabel(View& view, const HeatTile& tile, const AxisLabels& labels);

/// Paints "query ↓" and "key →" in their colours left of the cells, above and, with `roomBelow`, below them;
/// `room` is the free width there, in pixels.
void paintAxisTitles(const View& view, Canvas list, const ImRect& cells, float room, bool roomBelow = true);
void paintAxisLabels(const View& view, Canvas list, const HeatTile& tile, const AxisLabels& labels);

/// Writes values into the cells of an n × m matrix if the cells are large enough; `value` returns nothing for
/// a cell to leave blank.
using CellValue = std::function<std::optional<float>(Index row, Index col)>;
void paintValues(const View& view, Canvas list, const HeatTile& tile, Index n, Index m, const Look& look,
                 const ValueRange& range, const CellValue& value);
/// The same with the values of the tile's head.
void paintCellValues(const View& view, Canvas list, const HeatTile& tile, const SequenceSnapshot& sequence,
                     const Look& look, const ValueRange& range);

/// Describes how a picture was pooled: "largest of 4 × 4 cells".
std::string pooledText(int factor);

/// Shows "it → animal", weight and score next to the pointer; with `underOther`, under the scene's second
/// mask.
void cellTooltip(const View& view, const SequenceSnapshot& sequence, Index head, Index query, Index key,
                 bool underOther = false);

/// "Perhaps induction: 0.55 over 1 row, too few to tell."; "" if no score lacks only rows to label the head.
std::string fewRowsText(const attention::HeadProfile& profile, float threshold);
/// Returns the head's tooltip: what it appears to do, how strongly, and what the detector measures. Heads are
/// labelled as by attention::labelHead().
std::string headHelp(const attention::HeadLabel& label, const attention::HeadProfile& profile,
                     float threshold);

/// Paints a switched-off mark over a head's picture.
void paintOff(const View& view, Canvas list, const ImRect& tile);

/// Paints the head's title line: name, kv badge, and what it does with its score, or that it is switched off.
/// Fits into `width`, or into `room` if that is larger and the wording wouldn't fit otherwise. `notes`:
/// wordings, the longest first, that are written in place of what it does; empty = none.
void paintHeadTitle(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                    const SequenceSnapshot& sequence, Index head, ImVec2 leftMiddle, float width, bool large,
                    float room = 0, const std::vector<std::string>& notes = {});

}  // namespace headscope::app

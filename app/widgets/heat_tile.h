#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "app/compute/layer/value_range.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// One heatmap on screen: which cells are where. Everything drawn over the cells goes through it, so labels,
/// crosshairs and numbers agree with the picture.
struct HeatTile {
  ImRect area;               ///< pixels of the cells
  float row = 0, col = 0;    ///< the cell at the top left, fractional while panning
  float rows = 1, cols = 1;  ///< cells across the area
  Index head = 0;
  Index decodedRows = -1;  ///< while decoding: rows from here on are not there yet; −1 = all are

  float cellHeight() const { return area.GetHeight() / rows; }
  float cellWidth() const { return area.GetWidth() / cols; }
  float x(float col_) const { return area.Min.x + (col_ - col) * cellWidth(); }
  float y(float row_) const { return area.Min.y + (row_ - row) * cellHeight(); }
  /// The cell under a point, if it is inside the area and the n × m matrix.
  struct RowCol {
    Index row, col;
  };
  std::optional<RowCol> cellAt(ImVec2 point, Index n, Index m) const;
};

/// Says of the picture that is tracked as `name` where its tokens' cells are.
void trackCells(const std::string& name, const HeatTile& tile, const std::vector<attention::Token>* rows,
                const std::vector<attention::Token>* columns);

/// A tile's cells as a picture of matrices in which factor × factor cells are one.
HeatmapTile pictureOf(const HeatTile& tile, int factor, const ValueRange& range);
render::HeatmapStyle styleFor(const View& view, const Look& look);

/// The crosshair: the query's row in orange, the key's column in blue, where they lie inside the tile.
void paintCrosshair(const View& view, Canvas list, const HeatTile& tile, Index query, Index key, Index n,
                    Index m);

/// Row labels right-aligned before the area and column labels turned below it; thinned until they don't
/// touch. The lit query and key are always among them, in their colours.
struct AxisLabels {
  const std::vector<attention::Token>* queries;
  const std::vector<attention::Token>* keys;
  Index litQuery = -1, litKey = -1;
  float leftRoom = 0, bottomRoom = 0;  ///< pixels
  bool large = false;
};
/// The token whose label the pointer is on; `query`: of a row, at the left.
struct LabelUnder {
  bool query = true;
  Index at = 0;
};
std::optional<LabelUnder> labelAt(const HeatTile& tile, const AxisLabels& labels, const View& view,
                                  ImVec2 point);

/// "query ↓" and "key →" in their colours at the left of the cells, above and, where there is room, below
/// them; `room` pixels are free at the left.
void paintAxisTitles(const View& view, Canvas list, const ImRect& cells, float room, bool roomBelow = true);
void paintAxisLabels(const View& view, Canvas list, const HeatTile& tile, const AxisLabels& labels);

/// Writes values into the cells of an n × m matrix, where the cells are large enough; `value` says what
/// stands in one, if anything does.
using CellValue = std::function<std::optional<float>(Index row, Index col)>;
void paintValues(const View& view, Canvas list, const HeatTile& tile, Index n, Index m, const Look& look,
                 const ValueRange& range, const CellValue& value);
/// The same with the values of a head.
void paintCellValues(const View& view, Canvas list, const HeatTile& tile, const SequenceSnapshot& sequence,
                     const Look& look, const ValueRange& range);

/// "brightest of 4 × 4 cells": how a picture was pooled.
std::string pooledText(int factor);

/// "it → animal", weight and score, beside the pointer.
/// `underOther`: under the scene's second mask.
void cellTooltip(const View& view, const SequenceSnapshot& sequence, Index head, Index query, Index key,
                 bool underOther = false);

/// What the head is seen to do, how surely, and what the detector asks: for hovering.
/// `threshold`: from which score above even attention on heads are named.
std::string headHelp(const attention::HeadLabel& label, const attention::HeadProfile& profile,
                     float threshold);

/// Over the picture of a head that is switched off.
void paintOff(const View& view, Canvas list, const ImRect& tile);

/// The head's title line: name, kv badge, and what it does with its score, or that it is switched off, within
/// `width`; within `room`, where that is more, if what it does isn't said otherwise.
void paintHeadTitle(const View& view, Canvas list, const Look& look, const Snapshot& snapshot,
                    const SequenceSnapshot& sequence, Index head, ImVec2 leftMiddle, float width, bool large,
                    float room = 0);

}  // namespace headscope::app

#pragma once

#include "app/widgets/heat_tile.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Paints the colormap from its low end at `from` to its high end at `to`: rightwards, or upwards if `to` is
/// above `from`.
void paintRamp(const View& view, Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to);

/// The labels below a colour bar.
struct BarLabels {
  std::string low, middle, high;
};

/// Paints the whole colormap with labels below it, its right end at `right`.
void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width);

/// How paintCells() draws a matrix.
struct CellStyle {
  render::Colormap colormap = render::Colormap::viridis;
  float low = 0, high = 1;  ///< the values at the ends of the colormap
  float gap = 1;            ///< pixels between cells, if they are large enough
};

/// Paints a matrix of up to a few thousand cells without a texture, for thumbnails in lists, options and
/// comparisons. Larger matrices are max-pooled. Masked and dead cells (render/heatmap.h) are hatched.
void paintCells(const View& view, Canvas list, const ImRect& area, const attention::Matrix& values,
                const CellStyle& style);
/// Returns the largest area of rows × cols square cells that fits into `room`, at its top left corner.
ImRect squareCells(const ImRect& room, Index rows, Index cols);

/// Returns the width in pixels of the longest token label next to a heatmap, at most `most`.
float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most);

/// Space for token names around a head's picture, in pixels: left of it, and slanted below.
struct NameRoom {
  float left = 0, below = 0;
};
/// Returns the space that the longest names need, within limits.
NameRoom nameRoom(const View& view, const std::vector<attention::Token>& queries,
                  const std::vector<attention::Token>& keys);

/// The legend for the colours of a figure's cells.
struct FigureLegend {
  std::string caption;  ///< above the colour ramp; "" = no ramp
  render::Colormap colormap = render::Colormap::viridis;
  BarLabels labels;
  std::vector<std::pair<std::string, std::uint32_t>> swatches = {};  ///< single colours and their meanings
  std::vector<std::string> notes = {};                               ///< lines below everything else
  bool masked = false, dead = false;  ///< some cells are masked, or in a row that sees no key
  bool notNumber = false;             ///< some are NaN, infinite, or no weights
};
/// Returns the width of the legend right of a figure's cells, in pixels.
float legendRoom(const View& view);
/// Paints the legend with its top left corner at `at` and a ramp at most `height` pixels high.
void paintLegend(const View& view, Canvas list, ImVec2 at, float height, const FigureLegend& legend);
/// Paints it on a single line that ends at `right`, in at most `room` pixels, smaller in the window than on
/// stage; what doesn't fit is left out, the ramp last. Returns the width used.
float paintLegendLine(const View& view, Canvas list, ImVec2 right, float room, const FigureLegend& legend);

/// The size of a figure's cells, in layout units.
struct FigureRules {
  float side = 440;        ///< length of a matrix's longer side
  float largest = 38;      ///< largest cell size
  Index allLabelled = 96;  ///< up to this many tokens, every token has space for its label
  Index mostCells = 1024;  ///< beyond this many tokens along a side, cells are pooled
};
/// Returns the size of queries × keys cells in a figure, in pixels.
ImVec2 figureCells(const View& view, Index queries, Index keys, const FigureRules& rules = {});

/// The visible part of a matrix, in cells.
struct Camera {
  float row = 0, col = 0;
  float zoom = 1;  ///< 1 = the whole matrix
  bool operator==(const Camera&) const = default;
};

/// A map under the pointer.
struct PointedMap {
  HeatTile tile;
  bool hovered = false, held = false;
  bool clicked = false;                  ///< released without dragging
  std::optional<HeatTile::RowCol> cell;  ///< under the pointer, while hovered or held
};

/// Shows the camera's part of a head's queries × keys in `cells`, as the item `name`. The wheel zooms around
/// the pointer and, with `dragMoves`, dragging pans; zoom 1 shows the whole matrix.
PointedMap pointAtMap(View& view, const std::string& name, Camera& camera, const ImRect& cells,
                      const std::vector<attention::Token>& queries, const std::vector<attention::Token>& keys,
                      Index head, bool dragMoves = true);

/// Returns the width that large bars need right of a tile. In a grid, bars are in the gap between tiles.
float sinkBarsRoom(const View& view);
/// Returns the width of slim bars in that gap.
float sinkBarsGap(const View& view);
enum class SinkBars { large, slim };
/// Paints the share of each row's softmax that a head's sink takes, as bars right of the tile; the row's
/// weights sum to one minus it. Large bars have the heading "sink". When several rows share a pixel, only one
/// is drawn. Hovering a bar shows its share.
void paintSinkBars(const View& view, Canvas list, const HeatTile& tile, Index rows,
                   const std::function<float(Index row)>& share, SinkBars size = SinkBars::large);

}  // namespace headscope::app

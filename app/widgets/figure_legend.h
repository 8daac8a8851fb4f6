#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/colour_bar.h"
#include "render/heatmap.h"

namespace headscope::app {

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

/// The size of a figure's cells, in layout units.
struct FigureRules {
  float side = 440;        ///< length of a matrix's longer side
  float largest = 38;      ///< largest cell size
  Index allLabelled = 96;  ///< up to this many tokens, every token has space for its label
  Index mostCells = 1024;  ///< beyond this many tokens along a side, cells are pooled
};
/// Returns the size of queries × keys cells in a figure, in pixels.
ImVec2 figureCells(const View& view, Index queries, Index keys, const FigureRules& rules = {});

}  // namespace headscope::app

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/widgets/colour_bar.h"
#include "render/heatmap.h"

namespace headscope::app {

/// What the colours of a figure's cells mean.
struct FigureLegend {
  std::string caption;  ///< over the colours from end to end; "": there are none
  render::Colormap colormap = render::Colormap::viridis;
  BarLabels labels;
  std::vector<std::pair<std::string, std::uint32_t>> swatches = {};  ///< single colours with what they mean
  std::vector<std::string> notes = {};                               ///< lines under all
  bool masked = false, dead = false;  ///< some cells are masked, or of a row that sees no key
};
/// Pixels that it takes at the right of a figure's cells.
float legendRoom(const View& view);
/// Draws it with its top left corner at `at`, the colours `height` pixels high at the most.
void paintLegend(const View& view, Canvas list, ImVec2 at, float height, const FigureLegend& legend);

/// How large the cells of a figure are, in units.
struct FigureRules {
  float side = 440;        ///< that the longer side of a matrix takes,
  float largest = 38;      ///< with cells no larger than this
  Index allLabelled = 96;  ///< up to so many tokens each has room for its label,
  Index mostCells = 1024;  ///< and more than that along a side are pooled
};
/// Pixels that the cells of queries × keys take in a figure.
ImVec2 figureCells(const View& view, Index queries, Index keys, const FigureRules& rules = {});

}  // namespace headscope::app

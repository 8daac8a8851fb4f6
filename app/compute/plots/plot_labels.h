#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// Where the words of a plot stand, for windows and figures alike. Lengths are all in the unit of the cells, y
// downwards.

/// Where the values of a plot are drawn.
struct PlotCells {
  double left, top, width, height;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double x(const Plot& plot, double value) const { return left + plot.x.share(value) * width; }
  double y(const Plot& plot, double value) const { return bottom() - plot.y.share(value) * height; }
};

/// The name of a line, or of several, behind its right end.
struct EndLabel {
  std::string text;
  double x, y;  ///< its left end, and the middle of its height
  bool chosen, wrong;
};
/// Moved apart until they are a `lineHeight` from each other; `space` is between a line and its name. Lines
/// that end at one place share one, and those that leave the cells before their right end have none, but for
/// the chosen one.
std::vector<EndLabel> endLabels(const Plot& plot, const PlotCells& cells, double lineHeight, double space);

/// The size of a mark's label, of one line or two.
struct LabelSize {
  double width, height;
};
/// Where a mark's label stands: `share` of each of its lines is left of x, and y is the middle of the first.
struct LabelPlace {
  double x, y, share;
};
/// Of each mark in turn, `out` from it: on its own side where that is free, else where it covers least.
/// Labels never lie on those of the ticks. Nothing: the mark is not the chosen one, and no side is free of
/// others.
std::vector<std::optional<LabelPlace>> markLabels(const Plot& plot, const PlotCells& cells,
                                                  const std::vector<LabelSize>& sizes, double lineHeight,
                                                  double out, const std::vector<EndLabel>& ends);

}  // namespace headscope::app

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// The positions of a plot's labels, for windows and figures alike. All lengths are in the unit of the cells;
// y points down.

/// The rectangle in which a plot's values are drawn.
struct PlotCells {
  double left, top, width, height;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  double x(const Plot& plot, double value) const { return left + plot.x.share(value) * width; }
  double y(const Plot& plot, double value) const { return bottom() - plot.y.share(value) * height; }
};

/// The name of one or several lines, right of their ends.
struct EndLabel {
  std::string text;
  double x, y;  ///< left end, and vertical middle
  bool chosen, wrong;
};
/// Places the end labels at least `lineHeight` apart, with `space` between a line and its name. Lines that
/// end at the same point share a label. A line that leaves the cells before their right edge has none unless
/// it is chosen.
std::vector<EndLabel> endLabels(const Plot& plot, const PlotCells& cells, double lineHeight, double space);

/// The size of a mark's label, one or two lines high.
struct LabelSize {
  double width, height;
};
/// The position of a mark's label: `share` of each line's width is left of x, and y is the middle of the
/// first line.
struct LabelPlace {
  double x, y, share;
};
/// Places each mark's label at the distance `out`: on the mark's preferred side if that is free, otherwise
/// where it covers least, avoiding the tick labels. Null if the mark has no label, or isn't chosen and finds
/// no side free of other labels.
std::vector<std::optional<LabelPlace>> markLabels(const Plot& plot, const PlotCells& cells,
                                                  const std::vector<LabelSize>& sizes, double lineHeight,
                                                  double out, const std::vector<EndLabel>& ends);

}  // namespace headscope::app

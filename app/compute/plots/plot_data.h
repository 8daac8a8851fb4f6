#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

// A line plot as values, drawn by windows and figures. Lines are told apart by dashes and by a label at each
// end, never by hue.

enum class Dash { solid, dashed, dotted, dashDot };

struct PlotTick {
  double value;
  std::string label;  ///< "" = a line without a label
};

struct PlotAxis {
  double low = 1, high = 10;  ///< above 0 if logarithmic
  bool logarithmic = true;
  std::vector<PlotTick> ticks;  ///< ascending; labels that don't fit are dropped
  std::string title;            ///< below the ticks on the right; the y axis has none

  /// Returns the position of `value` on the axis: 0 at low, 1 at high.
  double share(double value) const;
  double valueAt(double share) const;
};

/// Returns labelled ticks at 1, 10, 100, … within the axis; beyond seven ticks only every third power has a
/// label.
std::vector<PlotTick> powerTicks(double low, double high);
/// Returns ticks at powers of two of tokens: "1 k", "8 k", "64 k".
std::vector<PlotTick> tokenTicks(double low, double high);

struct PlotPoint {
  double x, y;
};

struct PlotLine {
  std::string label;              ///< at its right end and on hover
  std::vector<PlotPoint> points;  ///< sorted by x
  Dash dash = Dash::solid;
  bool chosen = false;                                          ///< thick and bright
  bool wrong = false;                                           ///< in the error colour
  double dashedFrom = std::numeric_limits<double>::infinity();  ///< dashed from this x on

  /// Returns the value at x, interpolated linearly between points along the axes' scales; null beyond the
  /// ends.
  std::optional<double> at(double x, const PlotAxis& xAxis, const PlotAxis& yAxis) const;
};

enum class PlotSide { above, below, left, right, aboveLeft, belowRight };

struct PlotMark {
  PlotPoint at;
  std::string label, more;  ///< `more` is a second, dimmer line
  PlotSide side = PlotSide::above;
  bool chosen = false;  ///< drawn as a ring instead of a dot
  bool bold = false;
};

/// A faint labelled line across the plot.
struct PlotRule {
  double value;
  bool vertical = false;
  std::string label;
};

struct Plot {
  PlotAxis x, y;
  std::vector<PlotLine> lines;
  std::vector<PlotMark> marks;
  std::vector<PlotRule> rules;
  std::string (*value)(double) = nullptr;  ///< formats hovered values
  std::string (*place)(double) = nullptr;  ///< formats hovered x
  float labelRoom = 110;                   ///< space for the lines' labels on the right, in layout units
};

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

// Layout helpers that find what fits in a bounded number of steps for any size: windows can be too small for
// anything to fit, and widths can be negative or NaN.

/// Returns the smallest power of two n such that n items `each` wide take at least `room`. Returns no more
/// than the first n ≥ `count`, and that n if `each` isn't positive.
attention::Index powerOfTwoStep(double each, double room, attention::Index count);
/// Like powerOfTwoStep(), choosing from 1, 2, 5, 10, 20, …
attention::Index roundStep(double each, double room, attention::Index count);

/// Returns from, from + step, … below `to`, at most kMaxPlaces of them; none if `step` isn't positive or any
/// of the three isn't finite.
inline constexpr int kMaxPlaces = 4096;
std::vector<float> placesBetween(float from, float to, float step);

}  // namespace headscope::app

#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace headscope::app

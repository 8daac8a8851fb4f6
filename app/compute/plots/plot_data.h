#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

// A line plot as values: told apart by dashes and by a label at each line's end, never by hue. Windows and
// figures draw it.

enum class Dash { solid, dashed, dotted, dashDot };

struct PlotTick {
  double value;
  std::string label;  ///< "" = a line alone
};

struct PlotAxis {
  double low = 1, high = 10;  ///< above 0 where it is logarithmic
  bool logarithmic = true;
  std::vector<PlotTick> ticks;  ///< ascending; those that don't fit side by side lose their labels
  std::string title;            ///< below the ticks at the right; the y axis has none

  /// Where `value` lies: 0 at low, 1 at high.
  double share(double value) const;
  double valueAt(double share) const;
};

/// Labelled ticks at 1, 10, 100, … (or every third power where there are many) within the axis.
std::vector<PlotTick> powerTicks(double low, double high);
/// Ticks at powers of two of tokens: "1 k", "8 k", "64 k".
std::vector<PlotTick> tokenTicks(double low, double high);

struct PlotPoint {
  double x, y;
};

struct PlotLine {
  std::string label;              ///< at its right end, and on hover
  std::vector<PlotPoint> points;  ///< by x
  Dash dash = Dash::solid;
  bool chosen = false;                                          ///< thick and bright
  bool wrong = false;                                           ///< in the colour of errors
  double dashedFrom = std::numeric_limits<double>::infinity();  ///< from this x on it is dashed

  /// Its value at x, between its points by a straight line on the axes; nothing beyond its ends.
  std::optional<double> at(double x, const PlotAxis& xAxis, const PlotAxis& yAxis) const;
};

enum class PlotSide { above, below, left, right, aboveLeft, belowRight };

struct PlotMark {
  PlotPoint at;
  std::string label, more;  ///< a second line, quieter
  PlotSide side = PlotSide::above;
  bool chosen = false;  ///< a ring; a dot otherwise
  bool bold = false;
};

/// A quiet line across the plot with a word on it.
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
  std::string (*value)(double) = nullptr;  ///< how hovered values are written
  std::string (*place)(double) = nullptr;  ///< and x
  float labelRoom = 110;                   ///< at the right, for the lines' labels; layout units
};

}  // namespace headscope::app

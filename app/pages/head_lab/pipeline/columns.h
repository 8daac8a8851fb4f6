#pragma once

#include <string>
#include <vector>

#include "app/widgets/view.h"

namespace headscope::app::head_lab_page {

/// A column of a table below bars.
struct Column {
  std::string label;
  double from = 0, to = 0;  ///< of its bar
  std::string above;        ///< text above the bar
  std::vector<std::string> numbers;
  std::uint32_t color;
  bool outlined = false;  ///< for a bar that goes down
  bool lit = false;
};

/// Bars with numbers below: a sum growing product by product, or a row's weights.
struct Columns {
  std::string name;
  std::string place;                  ///< what the labels below the bars count: "c"; may be empty
  std::vector<std::string> rowNames;  ///< one-line formulas: "W_O"
  std::vector<std::uint32_t> rowColors;
  std::vector<Column> columns;
  double low = 0, high = 0;
  bool joined = false;  ///< thin lines connect the bars
};

/// The number of columns that fit.
std::size_t columnsThatFit(const View& view, const ImRect& area);
/// Draws the same table sideways, one line per column, for presenting: with large type, more lines fit than
/// columns. The rows' names are at the top; bars grow to the right. Returns as paintColumns().
int paintLines(const View& view, const ImRect& area, const Columns& columns);
/// The number of lines that fit.
std::size_t linesThatFit(const View& view, const ImRect& area);
/// Draws the table at the bottom of the area. Returns the hovered column; −1 = none. Tests find columns as
/// NAME.0, NAME.1, …
int paintColumns(const View& view, const ImRect& area, const Columns& columns);

}  // namespace headscope::app::head_lab_page

#pragma once

#include <string>
#include <vector>

#include "app/widgets/view.h"

namespace headscope::app::head_lab_page {

/// One column of a table below bars.
struct Column {
  std::string label;
  double from = 0, to = 0;  ///< of its bar
  std::string above;        ///< over the bar
  std::vector<std::string> numbers;
  std::uint32_t color;
  bool outlined = false;  ///< a bar that goes down
  bool lit = false;
};

/// Bars with their numbers below: a sum that grows from product to product, or a row's weights.
struct Columns {
  std::string name;
  std::string place;                  ///< what the labels below the bars count: "c"; may be empty
  std::vector<std::string> rowNames;  ///< formulas of one line: "W_O"
  std::vector<std::uint32_t> rowColors;
  std::vector<Column> columns;
  double low = 0, high = 0;
  bool joined = false;  ///< thin lines lead from bar to bar
};

/// How many columns there is room for.
std::size_t columnsThatFit(const View& view, const ImRect& area);
/// The same table lying on its side, a line for each column: in a hall type is large, and lines hold more of
/// it than columns. What the numbers stand for is at the top, bars grow to the right.
int paintLines(const View& view, const ImRect& area, const Columns& columns);
/// How many lines there is room for.
std::size_t linesThatFit(const View& view, const ImRect& area);
/// Draws them at the bottom of the area; returns the column that is pointed at, or −1. Tests call columns
/// NAME.0, NAME.1, …
int paintColumns(const View& view, const ImRect& area, const Columns& columns);

}  // namespace headscope::app::head_lab_page

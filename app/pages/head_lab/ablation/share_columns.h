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
  bool lit = false;       ///< selected
  bool hovered = false;   ///< here or in another picture
};

/// Bars with numbers below: a sum that grows share by share, whose last column is the whole.
struct Columns {
  std::string name;
  std::vector<std::string> rowNames;  ///< one-line formulas: "W_O"
  std::vector<std::uint32_t> rowColors;
  std::vector<Column> columns;
  double low = 0, high = 0;
};

/// How many columns the area has room for, or lines: where it is too narrow, the table stands sideways, with
/// one line per column.
std::size_t columnRoom(const View& view, const ImRect& area);
/// Draws the table at the bottom of the area. Returns the hovered column; −1 = none. Tests find columns as
/// NAME.0, NAME.1, …
int paintColumns(const View& view, const ImRect& area, const Columns& columns);
/// Whether the table stands sideways, where fewer numbers have room.
bool hasLines(const View& view, const ImRect& area);

}  // namespace headscope::app::head_lab_page

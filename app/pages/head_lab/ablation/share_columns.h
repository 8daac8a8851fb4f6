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
  bool lines = false;  ///< it stands sideways, with one line per column
};

/// Whether the table stands sideways, where fewer numbers have room, because upright the area is too narrow
/// for `wanted` columns.
bool hasLines(const View& view, const ImRect& area, std::size_t wanted);
/// How many columns, or lines, the area has room for.
std::size_t columnRoom(const View& view, const ImRect& area, bool lines);
/// The height of a table of that many lines, in layout units.
float linesHeight(std::size_t lines);
/// Draws the table at the bottom of the area. Returns the hovered column; −1 = none. Tests find columns as
/// NAME.0, NAME.1, …
int paintColumns(const View& view, const ImRect& area, const Columns& columns);

}  // namespace headscope::app::head_lab_page

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/widgets/panel.h"
#include "render/colormap.h"

namespace headscope::app {

/// A column of a table.
struct TableColumn {
  std::string title = "";  ///< above the column; "" = none
  float width = 0;         ///< in layout units; 0 = an equal share of what the others leave
  float most = 0;          ///< in wide tables the column grows up to this width
  std::string key = "";    ///< a column with a key can be clicked and pointed at by its title
  std::string shortTitle = "", help = "";
  bool chosen = false, sorts = false, lit = false;
};

/// The columns and rows of a table. Titles have two lines if any column has a key, else one.
struct TableSpec {
  std::string name = "";                  ///< tests find titles as NAME.column.KEY, and cells as NAME.ROW.KEY
  std::vector<TableColumn> columns = {};  ///< the first has the rows' names
  Index rows = 0;
  Index inSight = 0;            ///< the row around which rows are shown if not all fit
  Index pinned = 0;             ///< the first rows, which are always shown
  float least = 22, most = 22;  ///< height of a row, in layout units
  bool note = false;            ///< keeps space for note()
  std::string none = "";        ///< shown if there are no rows
};

/// A row's looks. Rows with a key can be pointed at and clicked.
struct RowLook {
  std::string key = "";
  bool chosen = false, lit = false;
};

/// A cell of a table, counted from 0 with the rows' names as column −1; row −1 = a column's title.
struct TableCell {
  Index row = -1, column = -1;
};

/// A table that fills an area. The caller draws row by row, cell by cell; the table decides where they stand,
/// which rows are shown, which sizes of type fit, and what is left out.
class TableView {
 public:
  TableView(View& view, const ImRect& area, TableSpec spec);

  /// Begins a row. `name` is for tests. Returns false, and the row has no cells, if it isn't shown.
  bool row(Index row, const std::string& name, const RowLook& look = {});

  // The next cell.

  /// A head in the first column: dot, number, and words. Returns the space for its picture; empty if there is
  /// none.
  ImRect head(std::uint32_t color, Index head, const std::string& words, bool secondary);
  /// Words on the left, and figures or tokens on the right; `color` 0 = the row's.
  void text(const std::string& words, std::uint32_t color = 0);
  void figure(const std::string& words, std::uint32_t color = 0);
  /// A bar over a share of the cell, and an outlined one for comparison.
  void bar(float share, std::uint32_t color, float compared = 0);
  /// A coloured cell with the first of the numbers that fits, and smaller words below in high rows.
  void value(const render::Color& color, const std::vector<std::string>& numbers,
             const std::string& below = "");
  /// A value that doesn't exist.
  void empty();

  /// Outlines a cell. Call after the rows.
  void mark(TableCell place);
  /// Writes below the rows which `rows` are shown, or `text` if all are. Returns the room to the right.
  ImRect note(const std::string& rows, const std::string& text);

  /// Whether the pointer is at a row or a column's title, and whether it was clicked.
  const std::optional<TableCell>& hovered() const { return hovered_; }
  bool clicked() const { return clicked_; }

 private:
  View& view_;
  ImRect area_;
  TableSpec spec_;
  std::vector<float> edges_;  ///< of the columns: the left one of each, and the right one of the last
  float top_, high_ = 0, picture_ = 0;
  Index first_, shown_;  ///< of the rows after the pinned ones
  Index row_ = -1;       ///< the row being drawn
  std::size_t cell_ = 0;
  RowLook look_;
  std::optional<TableCell> hovered_;
  bool clicked_ = false;

  bool tall() const;
  void place(float header);
  void title(std::size_t column, float high);
  float lineOf(Index row) const;
  ImRect cellAt(Index row, std::size_t column) const;
  ImRect nextCell();
  ImRect filled(std::uint32_t color);
  std::uint32_t ink(std::uint32_t color) const;
};

}  // namespace headscope::app

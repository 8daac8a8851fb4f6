#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/grid_drawing.h"
#include "app/compute/model/texts_run.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// What many texts say of each head, as a table, a map and a scatter.

/// Heads by their means over the texts in two columns.
struct HeadScatter {
  std::string title;
  Plot plot;                                   ///< a mark for each of `heads`
  std::vector<std::pair<Index, Index>> heads;  ///< layer and head
};
HeadScatter headScatter(const TextsStudy& study, const std::string& x, const std::string& y,
                        std::pair<Index, Index> lit);

/// Heads from top to bottom, their numbers from left to right.
struct TableFigure {
  std::string title, note;
  std::vector<const HeadColumn*> columns;      ///< the first is the one it is sorted by
  std::vector<std::pair<Index, Index>> rows;   ///< layer and head
  std::optional<std::pair<Index, Index>> lit;  ///< the chosen layer and head
  std::size_t first = 0;                       ///< the row at the top
};
/// Sorted by the mean of `column`, the largest first, or the smallest; heads without one last.
TableFigure tableFigure(const TextsStudy& study, const std::string& column, bool smallestFirst);
/// Rows and columns that a space shows.
std::size_t tableRows(double height);
std::size_t tableColumns(const TableFigure& figure, double width);
/// What is at a place: a row, or a column's title.
struct TablePlace {
  std::optional<std::size_t> row, column;
};
TablePlace tableAt(const TableFigure& figure, double width, double height, double x, double y);
Drawing tableDrawing(const TableFigure& figure, double width, double height, const DrawingColors& colors);

/// Layers by heads, the mean of one column.
GridFigure studyMap(const TextsStudy& study, const std::string& column);

/// "“stories.jsonl”: mean over 40 texts".
std::string studyNote(const TextsStudy& study);
/// "0.92", "−1.20"; "–" where there is none.
std::string studyNumber(double value);

}  // namespace headscope::app

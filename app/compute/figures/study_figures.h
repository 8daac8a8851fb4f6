#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/grid_drawing.h"
#include "app/compute/model/texts_run.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// The values of each head over many texts, as a table, a map and a scatter plot.

/// Heads by their means over the texts in two columns.
struct HeadScatter {
  std::string title;
  Plot plot;                                   ///< one mark per entry of `heads`
  std::vector<std::pair<Index, Index>> heads;  ///< layer and head
};
HeadScatter headScatter(const TextsStudy& study, const std::string& x, const std::string& y,
                        std::pair<Index, Index> lit);

/// A table with one head per row and one measure per column.
struct TableFigure {
  std::string title, note;
  std::vector<const HeadColumn*> columns;      ///< the first is the one that rows are sorted by
  std::vector<std::pair<Index, Index>> rows;   ///< layer and head
  std::optional<std::pair<Index, Index>> lit;  ///< the chosen layer and head
  std::size_t first = 0;                       ///< the top row shown
};
/// Sorts heads by their mean in `column`, largest or smallest first; heads without a value are last.
TableFigure tableFigure(const TextsStudy& study, const std::string& column, bool smallestFirst);
/// Return how many rows and columns fit in the space.
std::size_t tableRows(double height);
std::size_t tableColumns(const TableFigure& figure, double width);
/// What is at a position: a row, or a column's title.
struct TablePlace {
  std::optional<std::size_t> row, column;
};
TablePlace tableAt(const TableFigure& figure, double width, double height, double x, double y);
Drawing tableDrawing(const TableFigure& figure, double width, double height, const DrawingColors& colors);

/// Layers by heads, showing the mean of one column.
GridFigure studyMap(const TextsStudy& study, const std::string& column);

/// Returns "stories.jsonl: mean over 40 texts".
std::string studyNote(const TextsStudy& study);
/// Formats "0.92" or "−1.20"; "–" if there is no value.
std::string studyNumber(double value);

}  // namespace headscope::app

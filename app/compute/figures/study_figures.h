#pragma once

#include "app/compute/figures/drawing.h"
#include "app/compute/model/pair_study.h"
#include "app/compute/model/text_study.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// Grids of numbers, and bars. The window and files paint the same drawing.

/// Layers by heads or tokens: a number in each cell, or a word on its colour.
struct GridFigure {
  std::string title, note;  ///< above the grid
  std::string columnTitle;  ///< "head", "token"
  std::vector<std::string> rows, columns;
  attention::Matrix values;        ///< [rows, columns]; NaN = none, or not yet computed
  std::vector<std::string> words;  ///< [rows · columns]; empty = show the numbers in the cells
  float low = -1, high = 1;        ///< the values at the ends of the colours
  std::string caption;             ///< of the colour scale
  bool aroundZero = true;          ///< two colours around the middle; otherwise one, increasing from zero
  bool scale = true;               ///< with note and colour scale; an adjacent grid may show the same ones
  std::vector<std::pair<Index, Index>> kept;  ///< framed cells
};
/// The position of a grid's cells within the given space, in units.
struct GridPlace {
  Frame cells;
  Index rows = 0, columns = 0;

  Frame cell(Index row, Index column) const;
  std::optional<std::pair<Index, Index>> at(double x, double y) const;
};
GridPlace gridPlace(const GridFigure& figure, double width, double height);
Drawing gridDrawing(const GridFigure& figure, double width, double height, const DrawingColors& colors);

/// Bars around zero, longest first, that add up to a sum; for one or two texts.
struct BarFigure {
  struct Bar {
    std::string label;
    double a = 0;
    std::optional<double> b = {};
  };
  std::string title, note;
  std::vector<Bar> bars;
  Bar sum;
  bool two = false;
};
/// Returns how many bars fit in the height; the remaining ones share one more bar.
Index shownBars(const BarFigure& figure, double height);
/// Returns the index of the bar at height `y`.
std::optional<Index> barAt(const BarFigure& figure, double height, double y);
Drawing barDrawing(const BarFigure& figure, double width, double height, const DrawingColors& colors);

// Grids and bars that show why a model prefers one answer.

/// Returns a token's word by its id.
using WordOf = std::function<std::string(Index id)>;

GridFigure patchFigure(const PatchGridQuestion& question, const PatchGrid& grid,
                       const std::vector<KeptPatch>& kept);
/// `byKey`: one bar per head and attended token instead of one per head.
BarFigure attributionFigure(const PairStudy& pair, const AttributionStudy& study, bool byKey,
                            const WordOf& word);
GridFigure lensFigure(const LensQuestion& question, const LensMap& map, const WordOf& word);
/// Returns "logit of “Ben” − logit of “Anna”".
std::string differenceTitle(const PairStudy& pair, const WordOf& word);
/// Returns the title of a grid that patches such pieces into the other text: "Output of each head".
std::string pieceWords(attention::Piece piece, bool byToken);

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

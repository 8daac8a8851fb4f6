#pragma once

#include "app/compute/model/pair_study.h"
#include "app/compute/model/text_study.h"
#include "app/compute/plots/plot_data.h"

namespace headscope::app {

// Grids of numbers, and bars, that show why a model prefers one answer.

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
  std::vector<std::pair<Index, Index>> kept;  ///< framed cells
};
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
/// How a piece to patch is called: alone ("head" in "head 3.1"), where a grid's piece is chosen, and in the
/// titles of grids whose columns are heads or tokens.
struct PieceWords {
  const char *one, *ofHeads, *ofTokens, *eachHead, *eachLayer;
};
const PieceWords& pieceWords(attention::Piece piece);

// The values of each head over many texts, as a table, a map and a scatter plot.

/// Heads by their means over the texts in two columns.
struct HeadScatter {
  std::string title;
  Plot plot;                                   ///< one mark per entry of `heads`
  std::vector<std::pair<Index, Index>> heads;  ///< layer and head
};
HeadScatter headScatter(const TextsStudy& study, const std::string& x, const std::string& y,
                        std::pair<Index, Index> lit);

/// A table of the texts' measures: one head per row, one measure per column.
struct TableFigure {
  std::vector<const HeadColumn*> columns;     ///< the first is the one that rows are sorted by
  std::vector<std::pair<Index, Index>> rows;  ///< layer and head
};
/// Sorts heads by their mean in `column`, largest or smallest first; heads without a value are last.
TableFigure tableFigure(const TextsStudy& study, const std::string& column, bool smallestFirst);

/// Layers by heads, showing the mean of one column.
GridFigure studyMap(const TextsStudy& study, const std::string& column);

/// Returns "stories.jsonl: mean over 40 texts".
std::string studyNote(const TextsStudy& study);
/// Formats "0.92" or "−1.20"; "–" if there is no value.
std::string studyNumber(double value);

}  // namespace headscope::app

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/drawing_parts.h"

namespace headscope::app {

// Grids of numbers and bars, for the window and for files alike: both paint the same drawing.

/// Layers by heads or by tokens: a number in each cell, or a word over its colour.
struct GridFigure {
  std::string title, note;  ///< above it
  std::string columnTitle;  ///< "head", "token"
  std::vector<std::string> rows, columns;
  attention::Matrix values;        ///< [rows, columns]; NaN: there is none, or not yet
  std::vector<std::string> words;  ///< [rows · columns]; empty: the numbers stand in the cells
  float low = -1, high = 1;        ///< the values at the ends of the colours
  std::string caption;             ///< of the colour scale
  bool aroundZero = true;          ///< two colours around the middle; else one, from nothing up
  bool scale = true;               ///< with its note and colour scale; a grid beside it may have the same
  std::vector<std::pair<Index, Index>> kept;  ///< cells with a frame
};
/// Where the cells of a grid are in a space of so many units.
struct GridPlace {
  Frame cells;
  Index rows = 0, columns = 0;

  Frame cell(Index row, Index column) const;
  std::optional<std::pair<Index, Index>> at(double x, double y) const;
};
GridPlace gridPlace(const GridFigure& figure, double width, double height);
Drawing gridDrawing(const GridFigure& figure, double width, double height, const DrawingColors& colors);

/// Bars around zero, the longest first, that sum to a number; of one text or of two.
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
/// How many bars a space of that height shows; the rest is one more.
Index shownBars(const BarFigure& figure, double height);
/// Which of the bars is at a height.
std::optional<Index> barAt(const BarFigure& figure, double height, double y);
Drawing barDrawing(const BarFigure& figure, double width, double height, const DrawingColors& colors);

}  // namespace headscope::app

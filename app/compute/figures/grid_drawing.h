#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/figures/drawing_parts.h"

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

}  // namespace headscope::app

#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"
#include "app/compute/plots/plot_data.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Colours by what they mean, the same as in the window.
struct DrawingColors {
  render::Color background, panel, raised, line, text, secondary, faint, query, key, value;
  std::array<render::Color, 8> groups;  ///< KV groups, in turn
};
/// For print, or for dark slides.
const DrawingColors& drawingColors(bool dark);
/// Of heatmaps: masked cells, dead rows and gaps.
render::HeatmapStyle drawnStyle(const DrawingColors& colors, double gap);
/// Of cached keys or values, from the most negative to the most positive.
render::HeatmapStyle cacheStyle(const DrawingColors& colors, bool values);

/// Units that a line of text takes: exactly in the monospaced font, about as much in the other.
double drawnWidth(const std::string& text, double size, bool mono);
/// Cut with an ellipsis to so many columns.
std::string cutToColumns(const std::string& text, std::size_t columns);

/// Longest side of a matrix, and what of it is labelled.
struct PanelRules {
  double side = 440;        ///< units that the longer side takes,
  double largestCell = 38;  ///< with cells no larger than this
  Index allLabelled = 96;   ///< a matrix of up to so many tokens is made as large as all its labels take,
  Index mostCells = 1024;   ///< and more cells than that along a side are pooled
};
/// How a queries × keys matrix is drawn: cells pooled into one, and the units that one of those takes.
struct PanelScale {
  Index queries = 0, keys = 0, factor = 1;
  double row = 1, column = 1;  ///< height and width of a drawn cell

  Index rows() const { return (queries + factor - 1) / factor; }
  Index columns() const { return (keys + factor - 1) / factor; }
  double width() const { return column * static_cast<double>(columns()); }
  double height() const { return row * static_cast<double>(rows()); }
  /// Units of one query and of one key.
  double query() const { return row / static_cast<double>(factor); }
  double key() const { return column / static_cast<double>(factor); }
};
PanelScale panelScale(Index queries, Index keys, const PanelRules& rules);

/// Units the labels of an axis take beside the cells: to the left, or below.
double queryRoom(const std::vector<attention::Token>& tokens, double cell);
double keyRoom(const std::vector<attention::Token>& tokens, double cell);
/// Units that turned labels stand out beyond the last key.
double keyOverhang(const std::vector<attention::Token>& tokens, double cell);

/// A matrix with tokens along its sides: queries at the left, keys below.
struct MatrixPanel {
  double x = 0, y = 0;  ///< top left corner of the cells
  PanelScale scale;
  attention::Matrix values;  ///< [≤ rows, columns]: while decoding, later rows are not there yet
  render::HeatmapStyle style;
  const std::vector<attention::Token>* queryTokens = nullptr;  ///< null: the axis has no labels
  const std::vector<attention::Token>* keyTokens = nullptr;
};
void addPanel(Drawing& drawing, const DrawingColors& colors, MatrixPanel panel);

/// Around every drawing.
inline constexpr double kMargin = 16;

/// A colour scale with its caption and its ends, upwards from (x, y + height); what cells without a value
/// look like is under it, where there are any.
struct ColourScale {
  double x = 0, y = 0, height = 0;
  std::string caption = {}, low = {}, middle = {}, high = {};
  bool masked = false, dead = false;
};
inline constexpr double kScaleWidth = 90;
void addScale(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style,
              const ColourScale& scale);
/// A sample of a cell with what it means, at the right of it.
void addSwatch(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style, float value,
               const std::string& word, double x, double y);

/// A plot with its ticks, its lines' labels and its marks, as the window paints it.
void addPlot(Drawing& drawing, const DrawingColors& colors, const Frame& frame, const Plot& plot);

}  // namespace headscope::app

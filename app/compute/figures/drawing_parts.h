#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

/// Colours by meaning, the same as in the window.
struct DrawingColors {
  render::Color background, panel, raised, line, text, secondary, faint, query, key, value;
  std::array<render::Color, 8> groups;  ///< KV groups, cyclically
};
/// Returns the colours for print, or for dark slides.
const DrawingColors& drawingColors(bool dark);
/// Returns a heatmap style with colours for masked cells and dead rows, and the gap.
render::HeatmapStyle drawnStyle(const DrawingColors& colors, double gap);
/// Returns the width of a line of text in units: exact in the monospaced font, approximate in the other.
double drawnWidth(const std::string& text, double size, bool mono);
/// Cuts the text to at most `columns` columns, ending in an ellipsis if it is cut.
std::string cutToColumns(const std::string& text, std::size_t columns);

/// The space around every drawing.
inline constexpr double kMargin = 16;

/// A colour scale, upwards from (x, y + height), with its caption and end values; below it, samples of cells
/// without a value if there are any.
struct ColourScale {
  double x = 0, y = 0, height = 0;
  std::string caption = {}, low = {}, middle = {}, high = {};
  bool masked = false, dead = false;
};
void addScale(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style,
              const ColourScale& scale);

}  // namespace headscope::app

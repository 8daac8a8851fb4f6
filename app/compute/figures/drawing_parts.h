#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/compute/figures/drawing.h"

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
/// Units that a line of text takes: exactly in the monospaced font, about as much in the other.
double drawnWidth(const std::string& text, double size, bool mono);
/// Cut with an ellipsis to so many columns.
std::string cutToColumns(const std::string& text, std::size_t columns);

/// Around every drawing.
inline constexpr double kMargin = 16;

/// A colour scale with its caption and its ends, upwards from (x, y + height); what cells without a value
/// look like is under it, where there are any.
struct ColourScale {
  double x = 0, y = 0, height = 0;
  std::string caption = {}, low = {}, middle = {}, high = {};
  bool masked = false, dead = false;
};
void addScale(Drawing& drawing, const DrawingColors& colors, const render::HeatmapStyle& style,
              const ColourScale& scale);

}  // namespace headscope::app

#pragma once

#include <string>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

struct SvgOptions {
  std::string width, height;  ///< SVG lengths: "480", "120mm"; empty = the drawing's own units
  /// Pixels per unit, if known: finer matrices are then max-pooled, so that no bright cell is lost between
  /// pixels, and the page fills width and height exactly. 0 keeps every cell.
  double pixelsPerUnit = 0;
};

/// Returns the drawing as an SVG 1.1 document, UTF-8. Text stays text. Characters that XML can't hold
/// (control characters, invalid UTF-8) become U+FFFD.
std::string svgText(const Drawing& drawing, const SvgOptions& options = {});

}  // namespace headscope::app

#pragma once

#include <string>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

struct SvgOptions {
  std::string width, height;  ///< as SVG writes lengths: "480", "120mm"; the drawing's own units if empty
  /// Pixels that a unit will take where that is known: matrices that are finer are max-pooled, so that no
  /// bright cell falls between two pixels, and the page fills width and height to the pixel. 0 keeps every
  /// cell.
  double pixelsPerUnit = 0;
};

/// The drawing as an SVG 1.1 document, UTF-8. Text stays text. What XML can't hold (control characters, bytes
/// that are no UTF-8) becomes U+FFFD.
std::string svgText(const Drawing& drawing, const SvgOptions& options = {});

}  // namespace headscope::app

#pragma once

#include "app/compute/figures/drawing.h"

namespace headscope::app {

/// Returns a PDF with one page per drawing, filling width × height points (1/72 inch). Lines stay lines and
/// text stays text, with the needed parts of its fonts embedded; large matrices become images at `dpi`.
std::string pdfFile(const std::vector<Drawing>& pages, double width, double height, double dpi);

struct SvgOptions {
  std::string width, height;  ///< SVG lengths: "480", "120mm"; empty = the drawing's own units
  /// Pixels per unit, if known: finer matrices are then max-pooled, so that no bright cell is lost between
  /// pixels, and the page fills width and height exactly. 0 keeps every cell.
  double pixelsPerUnit = 0;
};

/// Returns the drawing as an SVG 1.1 document, UTF-8. Text stays text. Characters that XML can't hold
/// (control characters, invalid UTF-8) become U+FFFD.
std::string svgText(const Drawing& drawing, const SvgOptions& options = {});

/// Draws an SVG document to fill width × height pixels, using librsvg and the system's fonts. Returns an
/// Error if the document is invalid or memory is insufficient. Thread-safe.
attention::Result<render::Image> rasterise(const std::string& svg, int width, int height);

}  // namespace headscope::app

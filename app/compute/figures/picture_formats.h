#pragma once

#include <memory>

#include "app/compute/figures/drawing.h"

namespace headscope::app {

// A drawing as SVG, as PDF and as pixels. Cairo paints the latter two, with the fonts of the window and
// installed ones for characters that these lack.

class PictureFonts;
/// The fonts of pictures, opened when first needed. Whoever writes many pictures keeps one for all of them,
/// because Cairo keeps a font longer than a picture. For one thread at a time.
std::shared_ptr<PictureFonts> pictureFonts();

struct SvgOptions {
  std::string width, height;  ///< SVG lengths: "480", "120mm"; empty = the drawing's own units
};

/// Returns the drawing as an SVG 1.1 document, UTF-8. Text stays text.
std::string svgText(const Drawing& drawing, const SvgOptions& options = {});

/// Returns a PDF with one page per drawing, filling width × height points (1/72 inch). Lines stay lines and
/// text stays text that can be searched, with the needed parts of its fonts embedded; large matrices become
/// images at `dpi`. Equal drawings give equal bytes.
attention::Result<std::string> pdfFile(const std::vector<Drawing>& pages, double width, double height,
                                       double dpi,
                                       const std::shared_ptr<PictureFonts>& fonts = pictureFonts());

/// Paints the drawing to fill width × height pixels. Matrices with more cells are max-pooled, so that no
/// bright cell is lost between pixels.
attention::Result<render::Image> pixelImage(const Drawing& drawing, int width, int height,
                                            const std::shared_ptr<PictureFonts>& fonts = pictureFonts());

}  // namespace headscope::app

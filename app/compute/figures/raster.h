#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// An SVG document that fills width × height pixels, drawn by librsvg with the system's fonts. Errors: a
/// document that is none, no memory. Safe from any thread.
attention::Result<render::Image> rasterise(const std::string& svg, int width, int height);
/// The same as a PDF of a page each, width × height points (1/72 inch): text stays text, with its fonts
/// inside, and lines stay lines. Errors as above.
attention::Result<std::vector<std::uint8_t>> pdfPages(const std::vector<std::string>& svgs, double width,
                                                      double height);

}  // namespace headscope::app

#pragma once

#include <string>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// Draws an SVG document to fill width × height pixels, using librsvg and the system's fonts. Returns an
/// Error if the document is invalid or memory is insufficient. Thread-safe.
attention::Result<render::Image> rasterise(const std::string& svg, int width, int height);

}  // namespace headscope::app

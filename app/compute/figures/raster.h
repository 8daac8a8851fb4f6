#pragma once

#include <string>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// An SVG document that fills width × height pixels, drawn by librsvg with the system's fonts. Errors: a
/// document that is none, no memory. Safe from any thread.
attention::Result<render::Image> rasterise(const std::string& svg, int width, int height);

}  // namespace headscope::app

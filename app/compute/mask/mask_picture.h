#pragma once

#include <filesystem>

#include "attention/core/mask.h"
#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// Draws a mask, light where visible. One pixel covers cellsPerPixel() × cellsPerPixel() cells, the fewest
/// that keep both sides within 4,096 pixels. Its brightness is their visible share; a pixel with any visible
/// cell is never dark.
render::Image maskImage(const attention::MaskFormula& mask, attention::Index variant);
attention::Index cellsPerPixel(const attention::MaskFormula& mask);

/// Writes maskImage() as a PNG file.
attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   attention::Index variant);

}  // namespace headscope::app

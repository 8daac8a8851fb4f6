#pragma once

#include <filesystem>

#include "attention/core/mask.h"
#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// A mask's picture: light where visible. One pixel for `cellsPerPixel`² cells, as few as keep both sides
/// within 4,096 pixels; the light of several is their share, and no visible cell goes dark.
render::Image maskImage(const attention::MaskFormula& mask, attention::Index variant);
attention::Index cellsPerPixel(const attention::MaskFormula& mask);

/// The same as a PNG file.
attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   attention::Index variant);

}  // namespace headscope::app

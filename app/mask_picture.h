#pragma once

#include <filesystem>

#include "attention/core/mask.h"
#include "attention/core/result.h"

namespace headscope::app {

/// One variant of a mask as a PNG, a pixel for each cell: what is visible stands out from the background.
/// Masks of more than 4,096 cells a side become pictures of that size at most, each pixel as bright as the
/// share of its cells that is visible.
attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   attention::Index variant, bool light);

}  // namespace headscope::app

#pragma once

#include <string>

#include "attention/masks/compile.h"
#include "render/image.h"

namespace headscope::app {

/// Everything `headscope mask` says about a mask: its text, what is left out, and for every group of heads
/// with the same mask (of `head` alone where one is chosen) formula, density, empty rows, unseen keys, future
/// pairs and blocks.
std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<attention::Index> head);

/// All patterns with their formulas, parameters and limits.
std::string patternList();

/// A mask's picture: light where visible. One pixel for `cellsPerPixel`² cells, as few as keep both sides
/// within 4,096 pixels; the light of several is their share, and no visible cell goes dark.
render::Image maskImage(const attention::MaskFormula& mask, attention::Index variant);
attention::Index cellsPerPixel(const attention::MaskFormula& mask);

}  // namespace headscope::app

#pragma once

#include "attention/masks/geometry.h"
#include "attention/masks/program.h"

namespace headscope::attention {

/// One program for all heads that come to the same. Errors: those of compileMask.
Result<MaskPrograms> resolveMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                 const MaskSources& sources);

}  // namespace headscope::attention

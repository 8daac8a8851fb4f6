#pragma once

#include "attention/masks/geometry.h"
#include "attention/masks/program.h"

namespace headscope::attention {

/// Resolves a mask to programs; heads with equal programs share one. Returns the errors of compileMask().
Result<MaskPrograms> resolveMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                 const MaskSources& sources);

}  // namespace headscope::attention

#pragma once

#include <optional>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {

/// Random layers of all patterns, nested up to `depth` brackets: negated, switched off, for some heads or
/// sequences, joined in every way. They name the paintings "a" and "b" and the file "c.npy".
MaskLayers randomLayers(Random& random, int depth = 2);

/// One painting larger and one smaller than the geometry, one per head and with cells left alone, and a file
/// that fits.
MaskSources randomSources(Random& random, const MaskGeometry& geometry);

/// Decides one cell layer by layer; nullopt if no layer decides it. Each pattern is compiled by itself and
/// read from its own picture.
std::optional<bool> saidAbout(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head, Index row, Index key);

/// The whole mask of one head, decided in this way.
MaskPicture decidedCellByCell(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head);

}  // namespace headscope::attention::test

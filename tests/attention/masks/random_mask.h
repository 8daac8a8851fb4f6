#pragma once

#include <optional>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {

/// Random layers over all patterns, nested up to `depth` brackets: negated, switched off, for some heads or
/// sequences, joined in every way. Paintings "a" and "b" and the file "c.npy" are named.
MaskLayers randomLayers(Random& random, int depth = 2);

/// A painting larger and one smaller than the geometry, with cells left alone, one per head; a file that
/// fits.
MaskSources randomSources(Random& random, const MaskGeometry& geometry);

/// What a list of layers says about one cell, decided layer by layer; nothing where none says anything. Its
/// patterns, each alone, are taken from pictures of their own.
std::optional<bool> saidAbout(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head, Index row, Index key);

/// The whole mask of one head so.
MaskPicture decidedCellByCell(const MaskLayers& layers, const MaskGeometry& geometry,
                              const MaskSources& sources, Index head);

}  // namespace headscope::attention::test

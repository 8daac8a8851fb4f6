#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/core/random.h"
#include "attention/masks/compile.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention::test {

/// One text per row, '#' where visible.
using MaskPicture = std::vector<std::string>;

/// Geometry with the structure of a text without marks.
MaskGeometry geometryOf(Index queries, Index keys, Index cacheLength = 0, Index heads = 1, Index kvHeads = 1);

/// The layers of a text that has to be one.
MaskLayers layersOf(const std::string& text);

/// A mask that has to compile; fails the test and gives a mask over nothing where it doesn't.
std::shared_ptr<const MaskFormula> compiled(const MaskLayers& layers, const MaskGeometry& geometry,
                                            const MaskSources& sources = {});
std::shared_ptr<const MaskFormula> compiled(const std::string& text, const MaskGeometry& geometry,
                                            const MaskSources& sources = {});

/// The mask of a text over queries that stand at the end of what the config's cache holds.
MaskInput maskFor(const std::string& text, const AttentionConfig& config, Index queries, Index keys);

/// Every cell of one head, from its runs; fails the test where these are not as core/mask.h demands.
MaskPicture pictureOf(const MaskFormula& mask, Index head = 0);
/// The same for a mask given as text, rows joined by '/'.
std::string picture(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources = {},
                    Index head = 0);

/// The error compiling has to end with.
std::string errorOf(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources = {});

/// Whether `runs` ascend, hold something each, and neither overlap, touch nor leave 0 … keys−1.
bool wellFormed(const KeyRuns& runs, Index keys);

/// Cells from pictures, one for each head: '#' visible, '.' masked, ' ' left alone.
std::shared_ptr<const CellTable> cellsOf(const std::vector<MaskPicture>& heads);

/// Cells that are masked where `masked` [heads, queries, keys] is not 0, and visible elsewhere; null for an
/// empty stack.
std::shared_ptr<const CellTable> cellsOf(const Stack& masked);

/// A random picture of the given characters.
MaskPicture randomPicture(Random& random, Index queries, Index keys, const std::string& characters);

/// 0 … below−1.
Index pick(Random& random, Index below);

}  // namespace headscope::attention::test

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/core/random.h"
#include "attention/masks/compile.h"
#include "attention/masks/plain_rules.h"

namespace headscope::attention::test {

/// One string per row; '#' = visible.
using MaskPicture = std::vector<std::string>;

/// A geometry with the structure of a text without marks.
MaskGeometry geometryOf(Index queries, Index keys, Index cacheLength = 0, Index heads = 1, Index kvHeads = 1);

/// The layers of a mask text that has to be valid.
MaskLayers layersOf(const std::string& text);

/// A mask that has to compile. If it doesn't, fails the test and returns a mask over nothing.
std::shared_ptr<const MaskFormula> compiled(const MaskLayers& layers, const MaskGeometry& geometry,
                                            const MaskSources& sources = {});
std::shared_ptr<const MaskFormula> compiled(const std::string& text, const MaskGeometry& geometry,
                                            const MaskSources& sources = {});

/// The mask of a text for queries at the end of the config's cache.
MaskInput maskFor(const std::string& text, const AttentionConfig& config, Index queries, Index keys);

/// Every cell of one head, from its runs. Fails the test if the runs don't meet the requirements of
/// core/mask.h.
MaskPicture pictureOf(const MaskFormula& mask, Index head = 0);
/// The same for a mask given as text, with rows joined by '/'.
std::string picture(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources = {},
                    Index head = 0);

/// The error of a mask that must not compile.
std::string errorOf(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources = {});

/// Whether `runs` ascend, aren't empty, don't overlap or touch, and stay within 0 … keys−1.
bool wellFormed(const KeyRuns& runs, Index keys);

/// Cells from pictures, one picture per head: '#' = visible, '.' = masked, ' ' = left alone.
std::shared_ptr<const CellTable> cellsOf(const std::vector<MaskPicture>& heads);

/// Cells that are masked where `masked` [heads, queries, keys] isn't 0, and visible elsewhere; null for an
/// empty stack.
std::shared_ptr<const CellTable> cellsOf(const Stack& masked);

/// A random picture of the given characters.
MaskPicture randomPicture(Random& random, Index queries, Index keys, const std::string& characters);

/// 0 … below−1.
Index pick(Random& random, Index below);

}  // namespace headscope::attention::test

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attention/core/mask.h"
#include "attention/masks/cell_table.h"
#include "attention/masks/expression.h"
#include "attention/masks/geometry.h"

namespace headscope::attention {

/// All files a mask names, as pairs of path and convention.
std::vector<std::pair<std::string, std::string>> filesOf(const MaskLayers& layers);

/// The mask over one geometry. Rows cost as many steps as they have runs, whatever their length; nothing of
/// size queries × keys is ever held. A layer that is left out (off, other heads, untouched cells of a
/// painting) takes no part, and where no layer does everything is visible.
/// Errors: a file's table of another size than queries × keys, a painting or file that is not in `sources`,
/// a tree with a cycle or a parent that isn't there, a prefix longer than the keys, positions beyond them,
/// documents(…) around a pattern that is held cell by cell, around another, or around one that would be read
/// off the text.
Result<std::shared_ptr<const MaskFormula>> compileMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                                       const MaskSources& sources = {});

/// Why a layer plays no part in this geometry ("switched off"), or nothing.
std::string omittedReason(const Layer& layer, const MaskGeometry& geometry);

/// A layer that plays no part, and why.
struct OmittedLayer {
  std::string text, reason;
};
/// All of them, those in brackets and inside of documents(…) too.
std::vector<OmittedLayer> omittedLayers(const MaskLayers& layers, const MaskGeometry& geometry);

/// Whether any layer that is on goes by how query and key lie to each other.
bool comparesPositions(const MaskLayers& layers);
/// The one rule where there are not as many queries as keys: "positions decide, causal is j ≤ i; of 3 queries
/// over 5 keys the first stands at i = 0".
std::string positionRule(Index queries, Index keys, Index cacheLength);

}  // namespace headscope::attention

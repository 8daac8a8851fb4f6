#pragma once

#include <memory>
#include <vector>

#include "attention/masks/compile.h"

namespace headscope::attention {

// The masks that attention libraries have as options, as layers.

/// A layer of one pattern; `counts` stand for its first arguments.
Layer layerOf(PatternKind kind, const std::vector<Index>& counts = {});

/// What libraries call causal, key padding, sliding window and sinks. `window` counts keys: with causal query
/// i sees 0 ≤ i−j < window, otherwise |i−j| < window; 0 = none. The first `sinks` keys escape the window, not
/// causality.
struct PlainRules {
  bool causal = true, padding = true;
  Index window = 0, sinks = 0;
  bool operator==(const PlainRules&) const = default;
};
/// Nothing of what the rules leave open is a layer.
MaskLayers layersOf(const PlainRules& rules);

/// The rules over a geometry, however large the window and the sinks are, and all tables of `cells` (null
/// ones apart): what any of them hides is hidden. Null where nothing is hidden.
std::shared_ptr<const MaskFormula> compileRules(
    PlainRules rules, const MaskGeometry& geometry,
    const std::vector<std::shared_ptr<const CellTable>>& cells = {});

}  // namespace headscope::attention

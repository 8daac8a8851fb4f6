#pragma once

#include "attention/masks/compile.h"

namespace headscope::attention {

// The mask options of attention libraries, as layers.

/// Returns a layer of one pattern; `counts` are its first arguments.
Layer layerOf(PatternKind kind, const std::vector<Index>& counts = {});

/// The usual options of libraries: causal, key padding, sliding window and sinks. `window` counts keys: query
/// i sees 0 ≤ i−j < window if causal, otherwise |i−j| < window; 0 = no window. The first `sinks` keys stay
/// visible outside the window, but not before a causal query.
struct PlainRules {
  bool causal = true, padding = true;
  Index window = 0, sinks = 0;
  bool operator==(const PlainRules&) const = default;
};
/// Returns the rules as layers; rules that are off have none.
MaskLayers layersOf(const PlainRules& rules);

/// Compiles the rules and the tables in `cells` (null ones are skipped) for a geometry; a cell is hidden if
/// any of them hides it. Any size of window and sinks is allowed. Null if there are no rules and tables.
std::shared_ptr<const MaskFormula> compileRules(
    PlainRules rules, const MaskGeometry& geometry,
    const std::vector<std::shared_ptr<const CellTable>>& cells = {});

}  // namespace headscope::attention

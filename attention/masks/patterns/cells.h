#pragma once

#include "attention/masks/lookup.h"

namespace headscope::attention {

/// The decision of a rule with cells for a row and key: 1 visible, 2 masked, 0 undecided.
extern const LookupTable kCells;
/// Whether the rule decides every key of every row.
bool cellsDecideAll(const Rule& rule, const CodeSizes& sizes);

}  // namespace headscope::attention

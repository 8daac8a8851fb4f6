#pragma once

#include "attention/masks/lookup.h"

namespace headscope::attention {

/// What a rule with cells makes of the row's key: 1 visible, 2 masked, 0 undecided.
extern const LookupTable kCells;
/// Whether it decides every key of every row.
bool cellsDecideAll(const Rule& rule, const CodeSizes& sizes);

}  // namespace headscope::attention

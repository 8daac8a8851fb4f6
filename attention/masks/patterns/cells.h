#pragma once

#include "attention/masks/lookup.h"

namespace headscope::attention {

/// What a rule with cells says of the row's key: 1 visible, 2 masked, 0 nothing.
extern const LookupTable kCells;
/// Whether it says something of every key of every row.
bool cellsSayAll(const Rule& rule, const CodeSizes& sizes);

}  // namespace headscope::attention

#pragma once

#include "attention/masks/program.h"

namespace headscope::attention {

/// The draft behind `prefix` keys: parents for every position there is, and how far their chains go. What was
/// given must fit the draft and must not go in a circle; what comes from the text is cut or continued.
Status resolveTree(const PatternUse& use, const MaskGeometry& geometry, Index prefix, RuleLists& lists);

}  // namespace headscope::attention

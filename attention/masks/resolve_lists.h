#pragma once

#include <string>

#include "attention/masks/program.h"

namespace headscope::attention {

// From what a pattern was given, or else from the text's structure, to lists that lie inside the text.
// What was given has to fit; what comes from the text is cut.

/// "dilated's step", or "window" where pattern and parameter have one name.
std::string parameterTitle(const PatternUse& use, std::size_t parameter);
/// Null where nothing was given.
const Argument* argumentOf(const PatternUse& use, std::size_t parameter);

/// The lists of a pattern that has some; `prefix` is the tree's. Null for patterns without lists.
Result<std::shared_ptr<const RuleLists>> resolveLists(const PatternUse& use, const MaskGeometry& geometry,
                                                      Index prefix);

}  // namespace headscope::attention

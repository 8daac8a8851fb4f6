#pragma once

#include <string>
#include <vector>

#include "tests/app/include_rules.h"

namespace headscope::test {

/// "app/x.cpp: uses sectionTitle of app/widgets/controls.h, which it doesn't include" for each name that a
/// file uses, that one header alone declares for all to see, and that none of the file's includes, directly
/// or through others, brings in. Compiling a folder's sources together hides such a hole. Only names of
/// several words are looked for, as a single word may be anything's.
std::vector<std::string> missingIncludes(const Sources& sources);

}  // namespace headscope::test

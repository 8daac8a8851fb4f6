#pragma once

#include <string>
#include <vector>

#include "tests/app/include_rules.h"

namespace headscope::test {

/// One message, "app/x.cpp: uses sectionTitle of app/widgets/controls.h, which it doesn't include", for each
/// name that a file uses, that only one header declares publicly, and that none of the file's includes
/// provides, directly or through others. Compiling a folder's sources together would hide the missing
/// include. Only names of several words are checked, because a single word may have many meanings.
std::vector<std::string> missingIncludes(const Sources& sources);

}  // namespace headscope::test

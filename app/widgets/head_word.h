#pragma once

#include <string>

#include "attention/heads/detectors.h"

namespace headscope::app {

/// Returns what a head appears to do, for tight spaces: "prev", "2 back", "mixed", … Otherwise use
/// attention::describe().
std::string headWord(const attention::HeadLabel& label);

}  // namespace headscope::app

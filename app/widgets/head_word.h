#pragma once

#include <string>

#include "attention/heads/detectors.h"

namespace headscope::app {

/// What a head is seen to do, for tight places: "prev", "2 back", "mixed", … Elsewhere attention::describe().
std::string headWord(const attention::HeadLabel& label);

}  // namespace headscope::app

#pragma once

#include <vector>

#include "app/labs/common/lab.h"

namespace headscope::app {

/// Saving what the page shows, or the KV cache, as a figure without furniture: PNG or SVG, through the file
/// queue. `services` outlives them.
std::vector<Action> pictureActions(LabServices& services);

}  // namespace headscope::app

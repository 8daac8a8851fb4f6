#pragma once

#include <vector>

#include "app/pages/common/page.h"

namespace headscope::app {

/// Saving what the page shows, or the KV cache, as a figure without furniture, and the page as it is shown:
/// PNG, SVG or PDF, through the file queue. `services` outlives them.
std::vector<Action> pictureActions(PageServices& services);

}  // namespace headscope::app

#pragma once

#include <string>
#include <vector>

#include "app/platform/canvas.h"

namespace headscope::app {

/// Returns the first of several wordings, longest first, that fits into `width`; the last if none does.
std::string firstFitting(ImFont* font, const std::vector<std::string>& wordings, float width);

}  // namespace headscope::app

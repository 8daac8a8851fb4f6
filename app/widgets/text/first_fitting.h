#pragma once

#include <string>
#include <vector>

#include "app/platform/canvas.h"

namespace headscope::app {

/// The first of several wordings, the longest first, that fits into `width`; the last where none does.
std::string firstFitting(ImFont* font, const std::vector<std::string>& wordings, float width);

}  // namespace headscope::app

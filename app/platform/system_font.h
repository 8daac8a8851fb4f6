#pragma once

#include "app/platform/fonts.h"

namespace headscope::app {

/// Returns a font of the system's for what no font in the program's folder has; none in a browser.
FontPlace systemFont(const FontRequest& request);

}  // namespace headscope::app

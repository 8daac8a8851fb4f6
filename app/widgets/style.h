#pragma once

#include "app/widgets/view.h"

namespace headscope::app {

/// ImGui's own colours and sizes, for the few of its widgets that are used as they come.
void applyImGuiStyle(const View& view);

}  // namespace headscope::app

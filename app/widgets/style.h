#pragma once

#include "app/widgets/view.h"

namespace headscope::app {

/// Sets ImGui's own colours and sizes, for the few of its widgets that are used unchanged.
void applyImGuiStyle(const View& view);

}  // namespace headscope::app

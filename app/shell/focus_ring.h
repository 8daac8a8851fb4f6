#pragma once

#include "app/widgets/view.h"

namespace headscope::app {

/// Draws a ring around the control that has the keyboard focus, and scrolls the control into view.
void focusRing(View& view);

}  // namespace headscope::app

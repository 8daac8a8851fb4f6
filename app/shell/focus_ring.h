#pragma once

#include "app/widgets/view.h"

namespace headscope::app {

/// Around the control that has the keyboard, which it brings into sight.
void focusRing(View& view);

}  // namespace headscope::app

#pragma once

#include <vector>

#include "app/platform/screens.h"

struct GLFWmonitor;

namespace headscope::app {

// The screens known to GLFW. GLFW must have been started by a window.

/// Returns the number of screens. Cheap enough to call every frame.
int screenCount();
/// Returns the area of each screen that no desktop bar covers, the primary screen first.
std::vector<DesktopBox> desktopScreens();
/// Returns the screen that holds most of the window; null if there is none.
GLFWmonitor* monitorUnder(const DesktopBox& window);

}  // namespace headscope::app

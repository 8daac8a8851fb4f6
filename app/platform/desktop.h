#pragma once

#include <vector>

#include "app/platform/screens.h"

struct GLFWmonitor;

namespace headscope::app {

// The screens that GLFW knows, once a window has begun it.

/// How many there are; as cheap as it can be, so that it may be asked in every frame.
int screenCount();
/// What no bar takes of them, the main one first.
std::vector<DesktopBox> desktopScreens();
/// The one that holds most of the window; null where there is none.
GLFWmonitor* monitorUnder(const DesktopBox& window);

}  // namespace headscope::app

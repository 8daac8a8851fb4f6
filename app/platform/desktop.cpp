#include "app/platform/window.h"

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE  // only render/ includes OpenGL
#endif
#include <GLFW/glfw3.h>

#include <algorithm>

namespace headscope::app {

int screenCount() {
  int count = 0;
  glfwGetMonitors(&count);
  return count;
}

std::vector<DesktopBox> desktopScreens() {
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  std::vector<DesktopBox> areas(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t i = 0; i < areas.size(); ++i) {
    DesktopBox& area = areas[i];
    glfwGetMonitorWorkarea(monitors[i], &area.x, &area.y, &area.width, &area.height);
    // The desktop may not know the work area of a newly connected screen yet.
    const GLFWvidmode* const mode = glfwGetVideoMode(monitors[i]);
    if ((area.width > 0 && area.height > 0) || !mode) continue;
    glfwGetMonitorPos(monitors[i], &area.x, &area.y);
    area.width = mode->width;
    area.height = mode->height;
  }
  return areas;
}

GLFWmonitor* monitorUnder(const DesktopBox& place) {
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = nullptr;
  int most = -1;
  for (int i = 0; i < count; ++i) {
    int x = 0, y = 0;
    glfwGetMonitorPos(monitors[i], &x, &y);
    const GLFWvidmode* const mode = glfwGetVideoMode(monitors[i]);
    if (!mode) continue;
    const int wide = std::min(place.x + place.width, x + mode->width) - std::max(place.x, x);
    const int high = std::min(place.y + place.height, y + mode->height) - std::max(place.y, y);
    const int shared = std::max(wide, 0) * std::max(high, 0);
    if (shared > most) {
      most = shared;
      best = monitors[i];
    }
  }
  return best;
}

}  // namespace headscope::app

#include <algorithm>

#include "app/platform/window.h"

namespace headscope::app {

int screenOf(std::span<const DesktopBox> screens, const DesktopBox& window) {
  const int x = window.x + window.width / 2, y = window.y + window.height / 2;
  const auto found = std::find_if(screens.begin(), screens.end(), [&](const DesktopBox& screen) {
    return x >= screen.x && y >= screen.y && x - screen.x < screen.width && y - screen.y < screen.height;
  });
  return found == screens.end() ? -1 : static_cast<int>(found - screens.begin());
}

ScreenRoles screenRoles(std::span<const DesktopBox> screens, const DesktopBox& window) {
  if (screens.empty()) return {};
  if (screens.size() == 1) return {0, -1};
  const int on = screenOf(screens, window);
  return {on > 0 ? on : 1, 0};
}

DesktopBox keptInSight(std::span<const DesktopBox> screens, const DesktopBox& window) {
  if (screens.empty() || screenOf(screens, window) >= 0) return window;
  const DesktopBox& screen = screens.front();
  DesktopBox kept = window;
  kept.width = std::min(window.width, screen.width);
  kept.height = std::min(window.height, screen.height);
  kept.x = screen.x + (screen.width - kept.width) / 2;
  kept.y = screen.y + (screen.height - kept.height) / 2;
  return kept;
}

}  // namespace headscope::app

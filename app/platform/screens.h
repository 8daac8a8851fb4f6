#pragma once

#include <span>

namespace headscope::app {

/// A part of the desktop, in screen coordinates.
struct DesktopBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const DesktopBox&) const = default;
};

/// Which screen shows the hall's picture, and which the lecturer's window, by their places in a list whose
/// first is the desktop's main one; −1: none.
struct ScreenRoles {
  int hall = -1, lecturer = -1;
  bool operator==(const ScreenRoles&) const = default;
};

/// Of `screens`, with the program's window on `window`: with several, the hall has the window's screen unless
/// that is the main one, else the first other; the lecturer has the main one. With one, the hall has it and
/// the lecturer's window is one of many.
ScreenRoles screenRoles(std::span<const DesktopBox> screens, const DesktopBox& window);
/// Where the window's middle is; −1: on no screen.
int screenOf(std::span<const DesktopBox> screens, const DesktopBox& window);
/// The window as it is where its middle is on a screen; else in the middle of the first, and no larger.
DesktopBox keptInSight(std::span<const DesktopBox> screens, const DesktopBox& window);

}  // namespace headscope::app

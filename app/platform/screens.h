#pragma once

#include <span>

namespace headscope::app {

/// A rectangle on the desktop, in screen coordinates.
struct DesktopBox {
  int x = 0, y = 0, width = 0, height = 0;
  bool operator==(const DesktopBox&) const = default;
};

/// The sizes between which a window opens. X ends programs that ask for more than 32,767 pixels, and most
/// devices draw no more than these.
inline constexpr DesktopBox kLeastWindow{0, 0, 640, 400}, kLargestWindow{0, 0, 16'384, 16'384};

/// The screens for the hall's picture and the lecturer's window, as indices into a list that starts with the
/// primary screen; −1 = none.
struct ScreenRoles {
  int hall = -1, lecturer = -1;
  bool operator==(const ScreenRoles&) const = default;
};

/// Assigns the screens, given the position of the program's window. With several screens, the lecturer gets
/// the primary one and the hall the window's, or the first secondary one if the window is on the primary or
/// on none. With one screen, the hall gets it, and the lecturer's window is an ordinary window.
ScreenRoles screenRoles(std::span<const DesktopBox> screens, const DesktopBox& window);
/// Returns the screen that contains the window's centre; −1 if none does.
int screenOf(std::span<const DesktopBox> screens, const DesktopBox& window);
/// Returns the window unchanged if its centre is on a screen; otherwise centres it on the first screen,
/// shrunk to fit.
DesktopBox keptInSight(std::span<const DesktopBox> screens, const DesktopBox& window);

}  // namespace headscope::app

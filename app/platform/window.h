#pragma once

#include <memory>

#include "app/platform/input_queue.h"

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

/// A GLFW window with an OpenGL 3.3 core context, current on the creating thread.
class Window {
 public:
  /// Throws std::runtime_error with one sentence: no display, or the OpenGL version found and needed.
  Window(const std::string& title, int width, int height);
  /// Opens a second window, which shares the textures of `first` and must not outlive it. It doesn't take the
  /// keyboard when it opens.
  Window(const std::string& title, int width, int height, Window& first);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Whether a display can be opened.
  static bool displayAvailable();

  void sendEventsTo(InputQueue& queue);
  /// Makes this window's OpenGL context current.
  void makeCurrent();
  /// Waits for an event, a wake() or `seconds` to pass; 0 = only handles pending events.
  void wait(double seconds);
  /// Makes wait() return. Thread-safe.
  static void wake();
  bool shouldClose() const;
  void keepOpen();
  /// Shows the frame that ImGui has drawn. Sets the mouse pointer: a text cursor over text boxes, none if
  /// ImGui hides it.
  void present();
  /// Asks the desktop to highlight the window if it doesn't have the focus.
  void askForAttention();
  void setTitle(const std::string& title);
  /// Fills the whole monitor that holds most of the window, or restores the window.
  void setFullScreen(bool full);
  /// The window's position and size on the desktop.
  DesktopBox box() const;
  void moveTo(const DesktopBox& box);
  /// Centres the window on that screen, at 90 % of its size.
  void fill(const DesktopBox& screen);
  bool takeRefresh();  ///< whether there was an event, a resize or damage since the last call

  int width() const;  ///< framebuffer pixels
  int height() const;
  float scale() const;  ///< the monitor's content scale

  struct State;  // GLFW's; defined in window.cpp

 private:
  void open(const std::string& title, int width, int height, Window* first);
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app

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

#pragma once

#include <memory>
#include <string>

#include "app/platform/input_queue.h"
#include "app/platform/screens.h"

namespace headscope::app {

/// A GLFW window with an OpenGL 3.3 core context, current on the creating thread. Events go into the
/// queue it is given.
class Window {
 public:
  /// Throws std::runtime_error with one sentence: no display, or which OpenGL was found and is needed.
  Window(const std::string& title, int width, int height);
  /// A second window, beside `first`, which it must not outlive: it shows what that has in its textures. It
  /// doesn't take the keyboard when it opens.
  Window(const std::string& title, int width, int height, Window& first);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Whether a display can be reached at all.
  static bool displayAvailable();

  void sendEventsTo(InputQueue& queue);
  /// OpenGL draws into this window from now on.
  void makeCurrent();
  /// Sleeps until an event, a wake() or `seconds`; 0 only looks.
  void wait(double seconds);
  /// Makes wait() return; safe from any thread.
  static void wake();
  bool shouldClose() const;
  void keepOpen();
  /// Shows the frame ImGui has drawn; over its text boxes the mouse pointer is a text cursor,
  /// and where ImGui shows none it is hidden.
  void present();
  /// Lets the desktop mark the window, where it is behind others.
  void askForAttention();
  void setTitle(const std::string& title);
  /// Over the whole monitor that holds most of the window, or back to where it was.
  void setFullScreen(bool full);
  /// Where the window is on the desktop.
  DesktopBox box() const;
  void moveTo(const DesktopBox& box);
  /// As large as it can be on that screen without taking it whole.
  void fill(const DesktopBox& screen);
  bool takeRefresh();  ///< the window was resized, uncovered or woken since the last call

  int width() const;  ///< framebuffer pixels
  int height() const;
  float scale() const;  ///< the monitor's content scale

  struct State;  // GLFW's; defined in window.cpp

 private:
  void open(const std::string& title, int width, int height, Window* first);
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app

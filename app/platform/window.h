#pragma once

#include <memory>
#include <string>

#include "app/platform/input_queue.h"
#include "app/platform/screens.h"

namespace headscope::app {

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

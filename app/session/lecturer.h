#pragma once

#include "app/platform/window.h"
#include "app/session/session.h"

namespace headscope::app {

/// The lecturer's own window, in addition to the hall's, which the audience sees. Open as long as the
/// session's stage says so. With several screens, the hall's picture fills one of them and the lecturer gets
/// another. Keys act in either window.
class LecturerWindow {
 public:
  /// `first` is the hall's window, with its OpenGL context current; `input` is its queue.
  LecturerWindow(Window& first, InputQueue& input) : first_(first), input_(input) {}
  ~LecturerWindow();

  /// Call after a frame of the hall's window and before presenting it. Opens, closes and draws the lecturer's
  /// window. `now` is in seconds, like View::time. Leaves the hall's context current.
  void frame(Session& session, double now);
  /// Seconds until the clock must be redrawn; infinity while closed.
  double nextFrameIn() const;

 private:
  struct Opened {
    explicit Opened(Window& first);
    Window window;
    Ui ui;
    View view;
  };
  void open(Session& session);
  void close(Session& session);
  void watchScreens(Session& session);
  LecturerState stateOf(Session& session, double now) const;
  void forwardKeys();

  Window& first_;
  InputQueue& input_;
  InputQueue queue_;  ///< events of the lecturer's window
  std::unique_ptr<Opened> opened_;
  render::Picture hall_;
  int screens_ = 0;                   ///< number of screens at the last check
  std::optional<DesktopBox> before_;  ///< box of the hall's window before it filled a screen
};

}  // namespace headscope::app

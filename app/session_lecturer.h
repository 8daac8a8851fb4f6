#pragma once

#include <memory>
#include <optional>

#include "app/platform/ui.h"
#include "app/platform/window.h"
#include "app/session.h"
#include "app/shell/lecturer_view.h"
#include "render/picture.h"

namespace headscope::app {

/// The lecturer's own window beside the one that the hall sees: open as long as the session's stage says so.
/// With several screens the hall's picture fills one of them, and the lecturer has another. Keys that are
/// pressed in either window act.
class LecturerWindow {
 public:
  /// `first` is the hall's, with its OpenGL context current; `input` its queue.
  LecturerWindow(Window& first, InputQueue& input) : first_(first), input_(input) {}
  ~LecturerWindow();

  /// After a frame of the hall's window and before that is shown: opens or closes, and draws. `now` in
  /// seconds, as View::time. Afterwards the hall's context is current again.
  void frame(Session& session, double now);
  /// Seconds until it has to be drawn again: its clock shows seconds. Infinity while it is closed.
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
  InputQueue queue_;  ///< of the lecturer's window
  std::unique_ptr<Opened> opened_;
  render::Picture hall_;
  int screens_ = 0;                   ///< as they were when that was looked at
  std::optional<DesktopBox> before_;  ///< where the first was before the hall's screen became its own
};

}  // namespace headscope::app

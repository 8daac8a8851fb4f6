#pragma once

#include <memory>

#include "app/platform/ui.h"
#include "app/session.h"
#include "render/headless.h"

namespace headscope::app {

/// The whole program without a window: the same session and panels drawn into a framebuffer. What
/// `headscope render` and the interface tests run. Time goes by 1/60 s a frame and no motion eases, so that
/// the same scene gives the same pixels.
class HeadlessApp {
 public:
  /// Throws std::runtime_error when no OpenGL context can be had.
  HeadlessApp(int width, int height, float scale = 1, std::span<const PageRow> rows = pageTable(),
              const Limits& limits = defaultLimits());

  Session& session() { return session_; }
  InputQueue& input() { return ui_.input(); }
  /// One frame.
  void frame();
  /// Waits until the last frame is drawn: a context draws behind the back of who asked.
  void finish() { context_.finish(); }
  /// Frames and computations until nothing changes any more. Throws std::runtime_error where that has no end.
  void draw();
  render::Image image() const { return context_.read(); }
  void resize(int width, int height, float scale);

 private:
  int width_, height_;
  float scale_;
  render::HeadlessContext context_;
  Ui ui_;
  Session session_;
};

}  // namespace headscope::app

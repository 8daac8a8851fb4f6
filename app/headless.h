#pragma once

#include <memory>
#include <vector>

#include "app/compute/figures/scene_picture.h"
#include "app/platform/ui.h"
#include "app/session.h"
#include "app/shell/figure_wish.h"
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
  /// One frame, that many seconds after the last.
  void frame(double elapsed = 1.0 / 60);
  /// The next frame is drawn whole, not only where it differs from the last.
  void forgetFrame() { ui_.forgetFrame(); }
  /// Waits until the last frame is drawn: a context draws behind the back of who asked.
  void finish() { context_.finish(); }
  /// Frames and computations until nothing changes any more; each frame is `elapsed` seconds after the last,
  /// or all are of one moment. Throws std::runtime_error where that has no end.
  void draw(double elapsed = 1.0 / 60);
  render::Image image() const { return context_.read(); }
  /// One frame as a drawing.
  Drawing drawing();
  /// Figures, or the sheets of a hand-out (SessionFigure); at least one. The last scene stays, and the window
  /// is as before. Errors: why one of them can't be. Throws as draw().
  attention::Result<std::vector<Drawing>> figures(const std::vector<FigurePage>& pages);
  /// One figure of the scene, or of the page that it shows.
  attention::Result<Drawing> figure(Scene scene, const FigureView& how, PictureKind kind = PictureKind::page);
  void resize(int width, int height, float scale);

 private:
  int width_, height_;
  float scale_;
  std::unique_ptr<FontBook> fonts_;  ///< until the context is there
  render::HeadlessContext context_;
  Ui ui_;
  Session session_;
};

}  // namespace headscope::app

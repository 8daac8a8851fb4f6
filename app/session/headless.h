#pragma once

#include "app/session/session.h"
#include "render/headless.h"

namespace headscope::app {

/// The whole program without a window: the same session and panels, drawn into a framebuffer. Used by
/// `headscope render` and the interface tests. By default a frame advances time by 1/60 s, and motion is not
/// eased, so the same scene always gives the same pixels.
class HeadlessApp {
 public:
  /// Throws std::runtime_error if no OpenGL context can be created.
  HeadlessApp(int width, int height, float scale = 1, std::span<const PageRow> rows = pageTable(),
              const Limits& limits = defaultLimits())
      : HeadlessApp(width, height, scale, rows, limits, false) {}
  /// For figures, which are drawn as lines and text and need no OpenGL.
  static std::unique_ptr<HeadlessApp> forFigures(float scale = 1) {
    return std::unique_ptr<HeadlessApp>(new HeadlessApp(64, 64, scale, pageTable(), defaultLimits(), true));
  }

  Session& session() { return session_; }
  InputQueue& input() { return ui_.input(); }
  /// Draws one frame, `elapsed` seconds after the last.
  void frame(double elapsed = 1.0 / 60);
  /// Draws the whole next frame, not only what differs from the last.
  void forgetFrame() { ui_.forgetFrame(); }
  /// Waits until the last frame is drawn; the context draws asynchronously.
  void finish() { context_.finish(); }
  /// Runs frames and computations until nothing changes any more. Frames are `elapsed` seconds apart; 0 = all
  /// at the same moment. Throws std::runtime_error if that has no end.
  void draw(double elapsed = 1.0 / 60);
  render::Image image() const { return context_.read(); }
  /// Draws one frame as a Drawing.
  Drawing drawing();
  /// Draws figures, or the sheets of a handout (see SessionFigure); `pages` is not empty. The session keeps
  /// the last scene; otherwise the window is as before. Returns an Error that says why a page can't be drawn.
  /// Throws like draw().
  attention::Result<std::vector<Drawing>> figures(const std::vector<FigurePage>& pages);
  /// Draws one figure of the scene, or of the page it shows.
  attention::Result<Drawing> figure(Scene scene, const FigureView& how, PictureKind kind = PictureKind::page);
  void resize(int width, int height, float scale);

 private:
  HeadlessApp(int width, int height, float scale, std::span<const PageRow> rows, const Limits& limits,
              bool mayBeQuiet);

  int width_, height_;
  float scale_;
  std::unique_ptr<FontBook> fonts_;  ///< moved into ui_ once context_ exists
  render::HeadlessContext context_;
  Ui ui_;
  Session session_;
};

}  // namespace headscope::app

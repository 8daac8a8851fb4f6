#pragma once

#include "app/kit/shown.h"
#include "app/session/session.h"

namespace headscope::app {

/// Number of consecutive frames with nothing pending after which a picture is complete: drawing a frame may
/// request more.
inline constexpr int kStillFrames = 5;

/// Draws figures as their pages paint them, or the sheets of a handout. The session draws them one after
/// another, a frame at a time, and shows nothing else meanwhile. A figure takes the size it needs and is
/// cropped to its content.
class SessionFigure {
 public:
  /// `pages` is not empty, holds either figures or sheets, and outlives this object. The session must have
  /// nothing to compute at that time; it keeps the last scene drawn.
  SessionFigure(Session& session, const std::vector<FigurePage>& pages);
  ~SessionFigure();
  SessionFigure(const SessionFigure&) = delete;
  SessionFigure& operator=(const SessionFigure&) = delete;

  /// Draws one more frame, at `scale` pixels per unit. Returns nothing until all pages are complete, then a
  /// drawing for each (figures in pixels), or an Error that says why a page can't be drawn.
  std::optional<attention::Result<std::vector<Drawing>>> step(float scale);
  /// The number of pages drawn so far.
  std::size_t drawn() const { return drawn_.size(); }

 private:
  /// The page being drawn.
  struct Picture {
    int width = 0, height = 0;  ///< of the last frame, in pixels
    int sizes = 0, still = 0;   ///< sizes tried; frames since the last change
  };

  attention::Status begin(const FigurePage& page);
  std::optional<attention::Result<Drawing>> paint(const FigurePage& page, float scale);
  attention::Result<Drawing> sheet(const FigurePage& page, const Drawing& picture);
  attention::Status check(PictureKind kind) const;

  Session& session_;
  const std::vector<FigurePage>& pages_;
  const bool presented_;  ///< whether the session was presenting before
  std::vector<Drawing> drawn_;
  std::optional<Picture> picture_;
  ShownSet shown_;
  Shown<HandoutStep, HandoutWords> words_;
};

/// Draws the figures that a window requests (View::figureWanted), with a separate session, a frame at a time
/// between the window's, at the window's scale.
class FigurePainter {
 public:
  /// `wake` is called from worker threads when there is more to do.
  FigurePainter(const Limits& limits, std::function<void()> wake);
  ~FigurePainter();

  /// Call after each frame of the window.
  void step(Session& window);
  /// Like Session::work(), for the figures.
  bool work();
  /// Seconds until the next step has something to do; infinity if no figure is wanted.
  double nextStepIn(const View& window) const;

 private:
  struct Painting;

  const Limits limits_;
  const std::function<void()> wake_;
  std::unique_ptr<Painting> painting_;  ///< kept until all of its pending work has ended
};

/// Paints the small pictures of scenes that a window requests (View::pictures), each as the audience would
/// see it. Uses a separate session and framebuffer, and paints a frame at a time between the window's, while
/// nothing else has to be drawn. All calls need the window's OpenGL context.
class ScenePainter {
 public:
  /// `wake` is called from worker threads when there is more to do.
  explicit ScenePainter(std::function<void()> wake);
  ~ScenePainter();

  /// Continues with what `view` requests; creates the session at the first request. Keeps the pictures of the
  /// views of `own`'s talk.
  void step(View& view, const Scene& own);
  /// Seconds until the next step has something to do; infinity if no picture is wanted.
  double nextStepIn(const View& view);

 private:
  struct Painting;
  void begin(const View& view, std::shared_ptr<const Scene> scene);
  void forgetOthers(View& view, const Scene& own);

  const std::function<void()> wake_;
  std::unique_ptr<Painting> painting_;
};

}  // namespace headscope::app

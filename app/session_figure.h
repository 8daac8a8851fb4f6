#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/compute/figures/scene_picture.h"
#include "app/session.h"

namespace headscope::app {

/// Frames in which nothing was under way, before a picture is whole: what a frame finds room for may ask for
/// more.
inline constexpr int kStillFrames = 5;

/// A figure as the page that it is of paints it: a session draws it a frame at a time and shows nothing else
/// meanwhile. It is as large as it needs, and cropped to what is on it.
class SessionFigure {
 public:
  /// Nothing may be computed for the session yet, or any more; its scene stays
  /// the figure's.
  SessionFigure(Session& session, PictureKind kind, Scene scene, const FigureView& how);
  ~SessionFigure();
  SessionFigure(const SessionFigure&) = delete;
  SessionFigure& operator=(const SessionFigure&) = delete;

  /// One more frame, of `scale` pixels a unit. The figure in pixels, once nothing changes any more; errors:
  /// why there is nothing to draw.
  std::optional<attention::Result<Drawing>> step(float scale = 1);

 private:
  attention::Status check() const;

  Session& session_;
  const PictureKind kind_;
  const bool presented_;        ///< what the session did before
  attention::Status refused_;   ///< why there is nothing to begin with
  int width_ = 0, height_ = 0;  ///< of the last frame, in pixels
  int sizes_ = 0, still_ = 0;   ///< sizes that were tried; frames since anything changed
};

/// Draws the figures that a window wants (View::figureWanted) by a session of their own, a frame at a time
/// between the window's, at the window's scale.
class FigurePainter {
 public:
  /// `wake` is called from worker threads when there is something to go on with.
  FigurePainter(const Limits& limits, std::function<void()> wake);
  ~FigurePainter();

  /// After a frame of the window.
  void step(Session& window);
  /// As Session::work(), for what is drawn here.
  bool work();
  /// Seconds until the next step has something to do; infinity where nothing is wanted.
  double nextStepIn(const View& window) const;

 private:
  struct Painting;

  const Limits limits_;
  const std::function<void()> wake_;
  std::unique_ptr<Painting> painting_;  ///< until all that was under way for it has ended
};

}  // namespace headscope::app

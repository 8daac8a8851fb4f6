#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/session.h"
#include "app/shell/figure_wish.h"

namespace headscope::app {

/// Frames in which nothing was under way, before a picture is whole: what a frame finds room for may ask for
/// more.
inline constexpr int kStillFrames = 5;

/// Figures as the pages that they are of paint them, or the sheets of a hand-out: a session draws them one
/// after the other, a frame at a time, and shows nothing else meanwhile. A figure is as large as it needs,
/// and cropped to what is on it.
class SessionFigure {
 public:
  /// `pages`: at least one, and either figures or sheets; they outlive it. Nothing may be computed for the
  /// session yet, or any more; its scene stays the last one drawn.
  SessionFigure(Session& session, const std::vector<FigurePage>& pages);
  ~SessionFigure();
  SessionFigure(const SessionFigure&) = delete;
  SessionFigure& operator=(const SessionFigure&) = delete;

  /// One more frame, of `scale` pixels a unit. A drawing for each page, figures in pixels, once nothing
  /// changes any more; errors: why one of them can't be.
  std::optional<attention::Result<std::vector<Drawing>>> step(float scale);
  /// Pages that are drawn.
  std::size_t drawn() const { return drawn_.size(); }

 private:
  /// Of the page that is drawn.
  struct Picture {
    int width = 0, height = 0;  ///< of the last frame, in pixels
    int sizes = 0, still = 0;   ///< sizes that were tried; frames since anything changed
  };

  attention::Status begin(const FigurePage& page);
  std::optional<attention::Result<Drawing>> paint(const FigurePage& page, float scale);
  attention::Result<Drawing> sheet(const FigurePage& page, const Drawing& picture);
  attention::Status check(PictureKind kind) const;

  Session& session_;
  const std::vector<FigurePage>& pages_;
  const bool presented_;  ///< what the session did before
  std::vector<Drawing> drawn_;
  std::optional<Picture> picture_;
  Answer<HandoutStep, HandoutWords> words_;
};

/// Draws what a window wants (View::figureWanted) by a session of its own, a frame at a time between the
/// window's, at the window's scale.
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

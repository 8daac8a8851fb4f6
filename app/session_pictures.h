#pragma once

#include <functional>
#include <memory>

#include "app/session.h"

namespace headscope::app {

/// Paints the small pictures of scenes that a window wants (View::pictures), each as the hall would see it,
/// by a session of its own into a framebuffer of its own: a frame at a time, between those of the window,
/// while nothing else is to be drawn. Needs the window's OpenGL context whenever it is used.
class ScenePainter {
 public:
  /// `wake` is called from worker threads when there is something to go on with.
  explicit ScenePainter(std::function<void()> wake);
  ~ScenePainter();

  /// Goes on with what `view` wants; makes what it needs at the first wish. `own` are scenes whose pictures
  /// stay.
  void step(View& view, const Scene& own);
  /// Seconds until the next step has something to do; infinity where nothing is wanted.
  double nextStepIn(const View& view);

 private:
  struct Painting;
  void begin(const View& view, std::shared_ptr<const Scene> scene);
  void forgetOthers(View& view, const Scene& own);

  const std::function<void()> wake_;
  std::unique_ptr<Painting> painting_;
};

}  // namespace headscope::app

#pragma once

#include <functional>
#include <memory>

#include "app/session.h"

namespace headscope::app {

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

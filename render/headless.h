#pragma once

#include <memory>

#include "render/image.h"

namespace headscope::render {

/// An OpenGL 3.3 core context without a window system (EGL surfaceless, otherwise an EGL device), current on
/// the creating thread, with an RGBA8 framebuffer of the given size bound for drawing.
class HeadlessContext {
 public:
  /// Throws std::runtime_error with one sentence that names what was found and what is needed.
  /// With `mayBeQuiet`, a system without OpenGL gives a context that draws nothing (quiet_gl.h).
  HeadlessContext(int width, int height, bool mayBeQuiet = false);
  /// Whether it draws.
  bool draws() const;
  ~HeadlessContext();
  HeadlessContext(const HeadlessContext&) = delete;
  HeadlessContext& operator=(const HeadlessContext&) = delete;

  void resize(int width, int height);
  /// Binds the framebuffer and sets the viewport.
  void bind();
  /// Blocks until all drawing is done.
  void finish();
  Image read() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::render

#pragma once

namespace headscope::render {

/// Throws std::runtime_error with one sentence if the system's OpenGL can't be loaded. Call before anything
/// else of OpenGL: libepoxy would end the program.
void requireOpenGl();

/// An OpenGL 3.3 core context that draws into no window, made current on the creating thread: EGL without a
/// surface, or WGL with a window that is never shown.
class OffscreenContext {
 public:
  /// Throws std::runtime_error with one sentence that names what was found and what is needed.
  OffscreenContext();
  ~OffscreenContext();
  OffscreenContext(const OffscreenContext&) = delete;
  OffscreenContext& operator=(const OffscreenContext&) = delete;

  void makeCurrent() const;

 private:
  // EGL's display is shared by the whole process and possibly by other contexts, so it is never terminated.
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace headscope::render

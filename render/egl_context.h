#pragma once

namespace headscope::render {

/// Throws std::runtime_error with one sentence if the system's OpenGL can't be loaded. Call before anything
/// else of OpenGL: libepoxy would end the program.
void requireOpenGl();

/// An OpenGL 3.3 core context on EGL without a window system or surface, made current on the creating thread.
class EglContext {
 public:
  /// Throws std::runtime_error with one sentence that names what was found and what is needed.
  EglContext();
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  void makeCurrent() const;

 private:
  // EGLDisplay and EGLContext are both void*. The display is shared by the whole process and possibly by
  // other contexts, so it is never terminated.
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace headscope::render

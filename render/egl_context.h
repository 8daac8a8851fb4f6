#pragma once

namespace headscope::render {

/// An OpenGL 3.3 core context on EGL without any window system and without a surface, current on the
/// creating thread.
class EglContext {
 public:
  /// Throws std::runtime_error with one sentence: what was found and what is needed.
  EglContext();
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  void makeCurrent() const;

 private:
  // EGLDisplay and EGLContext, both of which are void*. The display belongs to the whole process, other
  // contexts may stand on it: it is never terminated.
  void* display_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace headscope::render

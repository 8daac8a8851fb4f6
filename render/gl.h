#pragma once

// The only place that includes OpenGL; everything else in render/ uses this header.
#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <epoxy/gl.h>
#endif

namespace headscope::render {

/// Whether OpenGL's functions do nothing (quiet_gl.h).
inline bool quietGl = false;

/// Whether the context is desktop OpenGL; otherwise it is OpenGL ES 3, whose shaders start differently.
inline bool isDesktopGl() {
#ifdef __EMSCRIPTEN__
  return false;
#else
  return quietGl || epoxy_is_desktop_gl();
#endif
}

/// Whether glGetError is cheap. In a browser it blocks until all earlier drawing is done, and running out of
/// memory loses the context instead of raising an error.
#ifdef __EMSCRIPTEN__
inline constexpr bool kErrorsAreCheap = false;
#else
inline constexpr bool kErrorsAreCheap = true;
#endif

}  // namespace headscope::render

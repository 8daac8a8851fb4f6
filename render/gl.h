#pragma once

// The one place that includes OpenGL; everything else in render/ goes through this header.
#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <epoxy/gl.h>
#endif

namespace headscope::render {

/// Whether the context is of OpenGL; else it is of OpenGL ES 3, whose shaders begin otherwise.
inline bool isDesktopGl() {
#ifdef __EMSCRIPTEN__
  return false;
#else
  return epoxy_is_desktop_gl();
#endif
}

/// Whether asking for an error costs nothing. A page waits until the browser has drawn everything before, and where
/// memory runs out it loses its context instead.
#ifdef __EMSCRIPTEN__
inline constexpr bool kErrorsAreCheap = false;
#else
inline constexpr bool kErrorsAreCheap = true;
#endif

}  // namespace headscope::render

#include "render/offscreen_context.h"

// Keeps X11's headers and their macros out.
#define EGL_NO_X11
#include <dlfcn.h>
#include <epoxy/egl.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "render/gl.h"

namespace headscope::render {
namespace {

constexpr const char* kNeeded = "Headscope needs an OpenGL 3.3 core context, but ";

bool hasExtension(const char* list, std::string_view wanted) {
  if (list == nullptr) return false;
  const std::string padded = " " + std::string(list) + " ";
  return padded.find(" " + std::string(wanted) + " ") != std::string::npos;
}

/// Returns the displays that need no window system, best first.
std::vector<EGLDisplay> windowlessDisplays() {
  std::vector<EGLDisplay> displays;
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const auto getDisplay =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (getDisplay == nullptr) return displays;
  if (hasExtension(extensions, "EGL_MESA_platform_surfaceless")) {
    displays.push_back(getDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  }
  const auto queryDevices =
      reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  if (queryDevices == nullptr || !hasExtension(extensions, "EGL_EXT_platform_device")) return displays;
  EGLDeviceEXT devices[16];
  EGLint count = 0;
  if (queryDevices(16, devices, &count)) {
    for (EGLint i = 0; i < count; ++i) {
      displays.push_back(getDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr));
    }
  }
  return displays;
}

EGLContext makeContext(EGLDisplay display, EGLConfig config, bool anyVersion) {
  const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                               3,
                               EGL_CONTEXT_MINOR_VERSION,
                               3,
                               EGL_CONTEXT_OPENGL_PROFILE_MASK,
                               EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                               EGL_NONE};
  const EGLint none[] = {EGL_NONE};
  return eglCreateContext(display, config, EGL_NO_CONTEXT, anyVersion ? none : attributes);
}

std::string glText(GLenum which) {
  const GLubyte* text = glGetString(which);
  return text != nullptr ? reinterpret_cast<const char*>(text) : "unknown";
}

/// Describes, for the error message, what a display without OpenGL 3.3 offers.
std::string offeredVersion(EGLDisplay display, EGLConfig config) {
  const EGLContext context = makeContext(display, config, true);
  if (context == EGL_NO_CONTEXT) return "EGL offers no OpenGL at all";
  std::string found = "EGL offers an OpenGL context that cannot be made current";
  if (eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
    found = "EGL offers only OpenGL " + glText(GL_VERSION) + " (" + glText(GL_RENDERER) + ")";
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }
  eglDestroyContext(display, context);
  return found;
}

/// Returns a current 3.3 context on this display, or EGL_NO_CONTEXT with the reason in `found`.
EGLContext tryDisplay(EGLDisplay display, std::string& found) {
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) {
    found = "no EGL display without a window system can be opened";
    return EGL_NO_CONTEXT;
  }
  const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  if (!eglBindAPI(EGL_OPENGL_API) || !eglChooseConfig(display, wanted, &config, 1, &configs) ||
      configs == 0) {
    found = "EGL offers no OpenGL at all";
    return EGL_NO_CONTEXT;
  }
  const EGLContext context = makeContext(display, config, false);
  if (context == EGL_NO_CONTEXT) {
    found = offeredVersion(display, config);
    return EGL_NO_CONTEXT;
  }
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
    found = "the one EGL offers cannot be made current without a surface";
    eglDestroyContext(display, context);
    return EGL_NO_CONTEXT;
  }
  return context;
}

void requireLibrary(const char* name) {
  // It stays loaded, since it is needed at once. libepoxy would end the program.
  if (::dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr) return;
  const char* const reason = ::dlerror();
  throw std::runtime_error(std::string(kNeeded) + "the system's OpenGL can't be loaded: " +
                           (reason != nullptr ? reason : std::string(name) + " is missing"));
}

}  // namespace

void requireOpenGl() {
  requireLibrary("libGL.so.1");
}

OffscreenContext::OffscreenContext() {
  requireLibrary("libEGL.so.1");
  requireOpenGl();
  std::string found = "this EGL knows no platform without a window system";
  for (const EGLDisplay candidate : windowlessDisplays()) {
    const EGLContext made = tryDisplay(candidate, found);
    if (made == EGL_NO_CONTEXT) continue;
    display_ = candidate;
    context_ = made;
    return;
  }
  throw std::runtime_error(kNeeded + found);
}

OffscreenContext::~OffscreenContext() {
  if (eglGetCurrentContext() == context_) {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }
  eglDestroyContext(display_, context_);
}

void OffscreenContext::makeCurrent() const {
  if (eglGetCurrentContext() != context_) {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_);
  }
}

}  // namespace headscope::render

#include "render/offscreen_context.h"

#include <windows.h>

#include <stdexcept>
#include <string>

#include "render/gl.h"

namespace headscope::render {
namespace {

// WGL_ARB_create_context and WGL_ARB_create_context_profile.
constexpr int kMajor = 0x2091, kMinor = 0x2092, kFlags = 0x2094, kProfile = 0x9126, kCore = 1, kForward = 2;
using CreateContext = HGLRC(WINAPI*)(HDC, HGLRC, const int*);

[[noreturn]] void fail(const std::string& found) {
  throw std::runtime_error("Headscope needs an OpenGL 3.3 core context, but " + found +
                           ". Install the graphics card's driver. On a virtual machine or by Remote Desktop, "
                           "put Mesa's opengl32.dll, "
                           "libgallium_wgl.dll and libglapi.dll beside headscope.exe.");
}

/// A window that is never shown, since a context needs one; returns its device.
HDC hiddenDevice() {
  WNDCLASSW kind{};
  kind.style = CS_OWNDC;
  kind.lpfnWndProc = DefWindowProcW;
  kind.hInstance = GetModuleHandleW(nullptr);
  kind.lpszClassName = L"HeadscopeOffscreen";
  RegisterClassW(&kind);
  const HWND window = CreateWindowW(kind.lpszClassName, L"", WS_POPUP, 0, 0, 16, 16, nullptr, nullptr,
                                    kind.hInstance, nullptr);
  if (!window) fail("no window can be made for it");
  const HDC device = GetDC(window);
  PIXELFORMATDESCRIPTOR format{};
  format.nSize = sizeof format;
  format.nVersion = 1;
  format.dwFlags = PFD_DRAW_TO_WINDOW | PFD_SUPPORT_OPENGL | PFD_DOUBLEBUFFER;
  format.iPixelType = PFD_TYPE_RGBA;
  format.cColorBits = 32;
  if (!SetPixelFormat(device, ChoosePixelFormat(device, &format), &format))
    fail("the screen has no format for it");
  return device;
}

void release(HDC device) {
  const HWND window = WindowFromDC(device);
  ReleaseDC(window, device);
  DestroyWindow(window);
}

/// The version of the context that is current.
std::string offered() {
  const auto text = [](GLenum which) {
    const GLubyte* const found = glGetString(which);
    return std::string(found ? reinterpret_cast<const char*>(found) : "unknown");
  };
  return "the driver offers only OpenGL " + text(GL_VERSION) + " (" + text(GL_RENDERER) + ")";
}

}  // namespace

/// Tries it, because Windows always has an OpenGL, which without a driver is of version 1.1.
void requireOpenGl() {
  static const bool tried = (OffscreenContext(), true);
  (void)tried;
}

OffscreenContext::OffscreenContext() {
  const HDC device = hiddenDevice();
  const HGLRC plain = wglCreateContext(device);
  if (!plain || !wglMakeCurrent(device, plain)) fail("Windows offers no OpenGL at all");
  const auto create = reinterpret_cast<CreateContext>(
      reinterpret_cast<void*>(wglGetProcAddress("wglCreateContextAttribsARB")));
  const int wanted[] = {kMajor, 3, kMinor, 3, kProfile, kCore, kFlags, kForward, 0};
  const HGLRC context = create ? create(device, nullptr, wanted) : nullptr;
  const std::string older = context ? "" : offered();
  wglMakeCurrent(nullptr, nullptr);
  wglDeleteContext(plain);
  if (!context) {
    release(device);
    fail(older);
  }
  display_ = device;
  context_ = context;
  makeCurrent();
}

OffscreenContext::~OffscreenContext() {
  if (wglGetCurrentContext() == context_) wglMakeCurrent(nullptr, nullptr);
  wglDeleteContext(static_cast<HGLRC>(context_));
  release(static_cast<HDC>(display_));
}

void OffscreenContext::makeCurrent() const {
  if (wglGetCurrentContext() != context_)
    wglMakeCurrent(static_cast<HDC>(display_), static_cast<HGLRC>(context_));
}

}  // namespace headscope::render

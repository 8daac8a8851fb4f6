#include "app/platform/window.h"

#ifndef GLFW_INCLUDE_NONE
#define GLFW_INCLUDE_NONE  // only render/ includes OpenGL
#endif
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "app/platform/clipboard_limit.h"
#include "app/platform/imgui_compat.h"
#include "render/offscreen_context.h"

namespace headscope::app {

struct Window::State {
  GLFWwindow* handle = nullptr;
  InputQueue* queue = nullptr;
  GLFWcursor* textPointer = nullptr;
  bool refresh = true;
  bool hidesPointer = false;
  std::string clipboard;

  void push(InputEvent event) {
    refresh = true;
    if (queue) queue->push(std::move(event));
  }
  DesktopBox place;     ///< position before full screen
  bool second = false;  ///< another window started GLFW and ends it
};

namespace {

/// The largest scale of a screen; more is a mistake in the desktop's settings.
constexpr float kMaxScale = 8;

Window::State* stateOf(GLFWwindow* window);

Key keyOf(int key) {
  if (key >= GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT) return static_cast<Key>(key);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return static_cast<Key>('0' + key - GLFW_KEY_KP_0);
  static constexpr std::pair<int, Key> kNamed[] = {{GLFW_KEY_TAB, Key::tab},
                                                   {GLFW_KEY_LEFT, Key::left},
                                                   {GLFW_KEY_RIGHT, Key::right},
                                                   {GLFW_KEY_UP, Key::up},
                                                   {GLFW_KEY_DOWN, Key::down},
                                                   {GLFW_KEY_PAGE_UP, Key::pageUp},
                                                   {GLFW_KEY_PAGE_DOWN, Key::pageDown},
                                                   {GLFW_KEY_HOME, Key::home},
                                                   {GLFW_KEY_END, Key::end},
                                                   {GLFW_KEY_INSERT, Key::insert},
                                                   {GLFW_KEY_DELETE, Key::del},
                                                   {GLFW_KEY_BACKSPACE, Key::backspace},
                                                   {GLFW_KEY_ENTER, Key::enter},
                                                   {GLFW_KEY_KP_ENTER, Key::enter},
                                                   {GLFW_KEY_KP_ADD, Key::equal},
                                                   {GLFW_KEY_KP_SUBTRACT, Key::minus},
                                                   {GLFW_KEY_ESCAPE, Key::escape},
                                                   {GLFW_KEY_F1, Key::f1},
                                                   {GLFW_KEY_F10, Key::f10},
                                                   {GLFW_KEY_F11, Key::f11}};
  const auto* const named = std::ranges::find(kNamed, key, &std::pair<int, Key>::first);
  return named == std::end(kNamed) ? Key::none : named->second;
}

Mods modsOf(int bits) {
  return {(bits & GLFW_MOD_CONTROL) != 0, (bits & GLFW_MOD_SHIFT) != 0, (bits & GLFW_MOD_ALT) != 0,
          (bits & GLFW_MOD_SUPER) != 0};
}

/// Returns the key by its label, so that Ctrl+Z follows the user's keyboard layout.
Key printedKey(int key, int scancode) {
  const char* name = glfwGetKeyName(key, scancode);
  if (key < GLFW_KEY_KP_0 && name && name[0] >= 'a' && name[0] <= 'z' && name[1] == 0)
    return static_cast<Key>(name[0] - 'a' + 'A');
  return keyOf(key);
}

void onKey(GLFWwindow* window, int key, int scancode, int action, int bits) {
  InputEvent event;
  event.kind = InputEvent::Kind::key;
  event.key = printedKey(key, scancode);
  event.down = action != GLFW_RELEASE;
  event.repeat = action == GLFW_REPEAT;
  event.mods = modsOf(bits);
  if (event.key != Key::none) stateOf(window)->push(event);
}

void onText(GLFWwindow* window, unsigned codepoint) {
  InputEvent event;
  event.kind = InputEvent::Kind::text;
  event.codepoint = codepoint;
  stateOf(window)->push(event);
}

void onMove(GLFWwindow* window, double x, double y) {
  int windowWidth = 1, windowHeight = 1, width = 1, height = 1;
  glfwGetWindowSize(window, &windowWidth, &windowHeight);
  glfwGetFramebufferSize(window, &width, &height);
  InputEvent event;
  event.kind = InputEvent::Kind::mouseMove;
  event.x = static_cast<float>(x * width / std::max(windowWidth, 1));
  event.y = static_cast<float>(y * height / std::max(windowHeight, 1));
  stateOf(window)->push(event);
}

Mods currentMods(GLFWwindow* window) {
  const auto held = [&](int left, int right) {
    return glfwGetKey(window, left) == GLFW_PRESS || glfwGetKey(window, right) == GLFW_PRESS;
  };
  return {held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL),
          held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT), held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT),
          held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER)};
}

void onButton(GLFWwindow* window, int button, int action, int bits) {
  if (button > 2) return;
  InputEvent event;
  event.kind = InputEvent::Kind::mouseButton;
  event.button = button;
  event.down = action == GLFW_PRESS;
  event.mods = modsOf(bits);
  stateOf(window)->push(event);
}

void onWheel(GLFWwindow* window, double x, double y) {
  InputEvent event;
  event.kind = InputEvent::Kind::wheel;
  event.x = static_cast<float>(x);
  event.y = static_cast<float>(y);
  event.mods = currentMods(window);
  stateOf(window)->push(event);
}

void onDrop(GLFWwindow* window, int count, const char** paths) {
  InputEvent event;
  event.kind = InputEvent::Kind::drop;
  event.paths.assign(paths, paths + count);
  stateOf(window)->push(std::move(event));
}

void onFocus(GLFWwindow* window, int focused) {
  if (focused) return;
  InputEvent event;
  event.kind = InputEvent::Kind::focusLost;
  stateOf(window)->push(event);
}

void onLeave(GLFWwindow* window, int entered) {
  if (entered) return;
  InputEvent event;
  event.kind = InputEvent::Kind::mouseMove;
  event.x = event.y = -1e6f;
  stateOf(window)->push(event);
}

void onRefresh(GLFWwindow* window) {
  stateOf(window)->refresh = true;
}
void onResize(GLFWwindow* window, int, int) {
  stateOf(window)->refresh = true;
}

Window::State* stateOf(GLFWwindow* window) {
  return static_cast<Window::State*>(glfwGetWindowUserPointer(window));
}

std::string glfwReason() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description ? description : "no reason given";
}

void setClipboard(void* user, const char* text) {
  glfwSetClipboardString(static_cast<Window::State*>(user)->handle, text);
}

const char* getClipboard(void* user) {
  auto* state = static_cast<Window::State*>(user);
  const ClipboardLimit limit(state->handle);
  const char* text = glfwGetClipboardString(state->handle);
  state->clipboard = text && !limit.reached() ? text : "";
  return state->clipboard.c_str();
}

DesktopBox boxOf(GLFWwindow* window) {
  DesktopBox box;
  glfwGetWindowPos(window, &box.x, &box.y);
  glfwGetWindowSize(window, &box.width, &box.height);
  return box;
}

/// Returns the screen under the window's centre; the first screen if there is none.
DesktopBox screenUnder(GLFWwindow* window) {
  const std::vector<DesktopBox> screens = desktopScreens();
  if (screens.empty()) return {};
  return screens[static_cast<std::size_t>(std::max(0, screenOf(screens, boxOf(window))))];
}

/// Shrinks a window, including its frame, to fit its screen.
void fitToScreen(GLFWwindow* window) {
  const DesktopBox screen = screenUnder(window);
  int left = 0, top = 0, right = 0, bottom = 0, width = 0, height = 0;
  glfwGetWindowFrameSize(window, &left, &top, &right, &bottom);
  glfwGetWindowSize(window, &width, &height);
  const int mostWidth = screen.width - left - right, mostHeight = screen.height - top - bottom;
  if (mostWidth <= 0 || mostHeight <= 0 || (width <= mostWidth && height <= mostHeight)) return;
  glfwSetWindowSize(window, std::min(width, mostWidth), std::min(height, mostHeight));
  glfwSetWindowPos(window, screen.x + left, screen.y + top);
}

/// The scale by which GLFW will multiply a window's size.
float primaryScale() {
  float x = 1, y = 1;
  if (GLFWmonitor* const monitor = glfwGetPrimaryMonitor()) glfwGetMonitorContentScale(monitor, &x, &y);
  return std::max({x, y, 1.0f});
}
int bounded(int size, int least, int most, float scale) {
  return std::clamp(size, least, std::max(least, static_cast<int>(static_cast<float>(most) / scale)));
}

}  // namespace

bool Window::displayAvailable() {
  glfwSetErrorCallback(nullptr);
  return glfwInit() == GLFW_TRUE;
}

Window::Window(const std::string& title, int width, int height) : state_(std::make_unique<State>()) {
  open(title, width, height, nullptr);
}

Window::Window(const std::string& title, int width, int height, Window& first)
    : state_(std::make_unique<State>()) {
  open(title, width, height, &first);
}

void Window::open(const std::string& title, int width, int height, Window* first) {
  state_->second = first != nullptr;
  if (!displayAvailable()) throw std::runtime_error("no display can be opened: " + glfwReason());
  render::requireOpenGl();
  const float scale = primaryScale();
  width = bounded(width, kLeastWindow.width, kLargestWindow.width, scale);
  height = bounded(height, kLeastWindow.height, kLargestWindow.height, scale);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, scale <= kMaxScale ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);  // until it fits
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "headscope");
  // The hall's picture must stay when the lecturer's window gets the keyboard.
  glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE);
  glfwWindowHint(GLFW_FOCUS_ON_SHOW, first ? GLFW_FALSE : GLFW_TRUE);
  state_->handle =
      glfwCreateWindow(width, height, title.c_str(), nullptr, first ? first->state_->handle : nullptr);
  if (!state_->handle) {
    const std::string reason = glfwReason();
    if (!first) glfwTerminate();
    throw std::runtime_error("no window with OpenGL 3.3 core can be opened: " + reason);
  }
  GLFWwindow* window = state_->handle;
  glfwMakeContextCurrent(window);
  glfwSwapInterval(first ? 0 : 1);  // the second window must not delay the first
  glfwSetWindowSizeLimits(window, kLeastWindow.width, kLeastWindow.height, GLFW_DONT_CARE, GLFW_DONT_CARE);
  fitToScreen(window);
  glfwShowWindow(window);
  fitToScreen(window);  // the window manager may have moved it to another screen
  glfwSetWindowUserPointer(window, state_.get());
  glfwSetKeyCallback(window, onKey);
  glfwSetCharCallback(window, onText);
  glfwSetCursorPosCallback(window, onMove);
  glfwSetMouseButtonCallback(window, onButton);
  glfwSetScrollCallback(window, onWheel);
  glfwSetDropCallback(window, onDrop);
  glfwSetWindowFocusCallback(window, onFocus);
  glfwSetCursorEnterCallback(window, onLeave);
  glfwSetWindowRefreshCallback(window, onRefresh);
  glfwSetFramebufferSizeCallback(window, onResize);
  state_->textPointer = glfwCreateStandardCursor(GLFW_IBEAM_CURSOR);
}

Window::~Window() {
  const ClipboardLimit limit(state_->handle);
  if (state_->textPointer) glfwDestroyCursor(state_->textPointer);
  glfwDestroyWindow(state_->handle);
  if (!state_->second) glfwTerminate();
}

void Window::makeCurrent() {
  glfwMakeContextCurrent(state_->handle);
}

DesktopBox Window::box() const {
  return boxOf(state_->handle);
}

void Window::moveTo(const DesktopBox& box) {
  if (box == this->box() || box.width <= 0 || box.height <= 0)
    return;  // an X server ends programs that ask for an empty window
  glfwSetWindowPos(state_->handle, box.x, box.y);
  glfwSetWindowSize(state_->handle, box.width, box.height);
}

void Window::fill(const DesktopBox& screen) {
  moveTo({screen.x + screen.width / 20, screen.y + screen.height / 20, screen.width * 9 / 10,
          screen.height * 9 / 10});
}

void Window::sendEventsTo(InputQueue& queue) {
  state_->queue = &queue;
  compat::useClipboard<getClipboard, setClipboard>(state_.get());
}

void Window::wait(double seconds) {
  if (seconds > 0)
    glfwWaitEventsTimeout(seconds);
  else
    glfwPollEvents();
}

void Window::wake() {
  glfwPostEmptyEvent();
}
bool Window::shouldClose() const {
  return glfwWindowShouldClose(state_->handle);
}
void Window::keepOpen() {
  glfwSetWindowShouldClose(state_->handle, GLFW_FALSE);
}
void Window::present() {
  const bool overText = ImGui::GetMouseCursor() == ImGuiMouseCursor_TextInput;
  glfwSetCursor(state_->handle, overText ? state_->textPointer : nullptr);
  const bool hides = ImGui::GetMouseCursor() == ImGuiMouseCursor_None;
  if (std::exchange(state_->hidesPointer, hides) != hides)
    glfwSetInputMode(state_->handle, GLFW_CURSOR, hides ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL);
  glfwSwapBuffers(state_->handle);
}
void Window::askForAttention() {
  if (!glfwGetWindowAttrib(state_->handle, GLFW_FOCUSED)) glfwRequestWindowAttention(state_->handle);
}
void Window::setTitle(const std::string& title) {
  glfwSetWindowTitle(state_->handle, title.c_str());
}

void Window::setFullScreen(bool full) {
  GLFWwindow* window = state_->handle;
  if (full == (glfwGetWindowMonitor(window) != nullptr)) return;
  DesktopBox& place = state_->place;
  if (!full)
    return glfwSetWindowMonitor(window, nullptr, place.x, place.y, place.width, place.height, GLFW_DONT_CARE);
  place = boxOf(window);
  GLFWmonitor* const monitor = monitorUnder(place);
  if (!monitor) return;
  const GLFWvidmode* const mode = glfwGetVideoMode(monitor);
  glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

bool Window::takeRefresh() {
  return std::exchange(state_->refresh, false);
}

int Window::width() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->handle, &width, &height);
  return width;
}

int Window::height() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->handle, &width, &height);
  return height;
}

float Window::scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(state_->handle, &x, &y);
  return std::clamp(std::round(std::max(x, y) * 4) / 4, 1.0f, kMaxScale);
}

}  // namespace headscope::app

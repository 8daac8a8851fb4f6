#include "app/platform/window.h"

#include <emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/imgui_compat.h"
#include "app/platform/input_queue.h"
#include "app/platform/shaped_text.h"
#include "app/platform/track.h"
#include "app/platform/web/page.h"

// Implements the window as the page's canvas. The browser calls back for each event; nothing waits.

namespace headscope::app {

namespace {

constexpr const char* kCanvas = "#canvas";

}  // namespace

struct Window::State {
  /// Whether text is being typed, and the caret's top and height in CSS pixels.
  struct Typing {
    bool types = false;
    float x = 0, y = 0, height = 0;
    bool operator==(const Typing&) const = default;
  };

  EMSCRIPTEN_WEBGL_CONTEXT_HANDLE context = 0;
  InputQueue* queue = nullptr;
  bool refresh = true;
  int width = 0, height = 0;
  std::string clipboard, cursor;
  bool full = false;
  Typing typing;
  Touches touches{[this](InputEvent event) { push(std::move(event)); }};

  void push(InputEvent event) {
    refresh = true;
    if (queue) queue->push(std::move(event));
  }
  void move(float x, float y) {
    InputEvent event;
    event.x = x;
    event.y = y;
    push(event);
  }
  void press(int button, bool down, Mods mods = {}) {
    InputEvent event;
    event.kind = InputEvent::Kind::mouseButton;
    event.button = button;
    event.down = down;
    event.mods = mods;
    push(event);
  }
  void turn(float x, float y, Mods mods) {
    InputEvent event;
    event.kind = InputEvent::Kind::wheel;
    event.x = x;
    event.y = y;
    event.mods = mods;
    push(event);
  }
  void key(Key key, bool down, bool repeat, Mods mods) {
    InputEvent event;
    event.kind = InputEvent::Kind::key;
    event.key = key;
    event.down = down;
    event.repeat = repeat;
    event.mods = mods;
    push(event);
  }
  void type(std::string_view text) {
    eachCodepoint(text, [this](std::uint32_t code, std::string_view) {
      InputEvent event;
      event.kind = InputEvent::Kind::text;
      event.codepoint = code;
      push(event);
    });
  }
};

namespace {

Window::State* stateOf(void* user) {
  return static_cast<Window::State*>(user);
}

float ratio() {
  return static_cast<float>(emscripten_get_device_pixel_ratio());
}

double seconds() {
  return emscripten_get_now() / 1000;
}

template <typename E>
Mods modsOf(const E& event) {
  return {event.ctrlKey != 0, event.shiftKey != 0, event.altKey != 0, event.metaKey != 0};
}

/// Returns the key by its label; digits by position, as Shift changes their label.
Key keyOf(const EmscriptenKeyboardEvent& event) {
  const std::string_view key = event.key, code = event.code;
  if (code.starts_with("Digit") && code.size() == 6) return static_cast<Key>(code[5]);
  if (key.size() == 1 && key[0] >= 'a' && key[0] <= 'z') return static_cast<Key>(key[0] - 'a' + 'A');
  if (key == "+") return Key::equal;
  if (key.size() == 1 && key[0] >= ' ' && key[0] < 'a') return static_cast<Key>(key[0]);
  constexpr std::pair<std::string_view, Key> kNamed[] = {{"Tab", Key::tab},
                                                         {"ArrowLeft", Key::left},
                                                         {"ArrowRight", Key::right},
                                                         {"ArrowUp", Key::up},
                                                         {"ArrowDown", Key::down},
                                                         {"PageUp", Key::pageUp},
                                                         {"PageDown", Key::pageDown},
                                                         {"Home", Key::home},
                                                         {"End", Key::end},
                                                         {"Insert", Key::insert},
                                                         {"Delete", Key::del},
                                                         {"Backspace", Key::backspace},
                                                         {"Enter", Key::enter},
                                                         {"Escape", Key::escape},
                                                         {"F1", Key::f1},
                                                         {"F10", Key::f10},
                                                         {"F11", Key::f11}};
  for (const auto& [name, named] : kNamed)
    if (key == name) return named;
  return Key::none;
}

EM_BOOL onKey(int type, const EmscriptenKeyboardEvent* event, void* user) {
  const bool down = type == EMSCRIPTEN_EVENT_KEYDOWN;
  const Key key = keyOf(*event);
  const Mods mods = modsOf(*event);
  // Pasting comes as a separate event, which then presses the key.
  if (key == Key::v && (mods.ctrl || mods.super)) return EM_FALSE;
  if (key != Key::none) stateOf(user)->key(key, down, event->repeat != 0, mods);
  const std::string_view text = event->key;
  const bool prints = text.size() == 1 || (!text.empty() && static_cast<unsigned char>(text[0]) >= 0xC0);
  if (down && prints && !mods.ctrl && !mods.super) stateOf(user)->type(text);
  // The browser keeps F5, F12 and the shortcuts that open and close pages.
  return key != Key::none && text != "F11";
}

void moveTo(Window::State& state, const EmscriptenMouseEvent& event) {
  state.move(static_cast<float>(event.targetX) * ratio(), static_cast<float>(event.targetY) * ratio());
}

EM_BOOL onMouse(int type, const EmscriptenMouseEvent* event, void* user) {
  Window::State& state = *stateOf(user);
  moveTo(state, *event);
  constexpr int kButtons[] = {0, 2, 1};  // the browser's button 1 is the middle one
  if (type != EMSCRIPTEN_EVENT_MOUSEMOVE && event->button < 3)
    state.press(kButtons[event->button], type == EMSCRIPTEN_EVENT_MOUSEDOWN, modsOf(*event));
  return EM_FALSE;  // so that the canvas gets the keyboard
}

/// Outside the canvas, the mouse matters only for the end of a drag.
EM_BOOL onRelease(int, const EmscriptenMouseEvent* event, void* user) {
  constexpr int kButtons[] = {0, 2, 1};
  if (event->button < 3) stateOf(user)->press(kButtons[event->button], false, modsOf(*event));
  return EM_FALSE;
}

EM_BOOL onLeave(int, const EmscriptenMouseEvent* event, void* user) {
  if (event->buttons == 0) stateOf(user)->move(-1e6f, -1e6f);
  return EM_TRUE;
}

EM_BOOL onWheel(int, const EmscriptenWheelEvent* event, void* user) {
  const double unit = event->deltaMode == DOM_DELTA_PIXEL ? 100 : event->deltaMode == DOM_DELTA_LINE ? 3 : 1;
  stateOf(user)->turn(static_cast<float>(-event->deltaX / unit), static_cast<float>(-event->deltaY / unit),
                      modsOf(event->mouse));
  return EM_TRUE;
}

EM_BOOL onBlur(int, const EmscriptenFocusEvent*, void* user) {
  InputEvent event;
  event.kind = InputEvent::Kind::focusLost;
  stateOf(user)->push(event);
  return EM_TRUE;
}

EM_BOOL onResize(int, const EmscriptenUiEvent*, void* user) {
  stateOf(user)->refresh = true;
  return EM_TRUE;
}

EM_BOOL onFullScreen(int, const EmscriptenFullscreenChangeEvent* event, void* user) {
  stateOf(user)->full = event->isFullscreen != 0;
  stateOf(user)->refresh = true;
  return EM_TRUE;
}

EM_BOOL onContext(int, const void*, void*) {
  headscopePageFailed("the graphics card was lost. Reload the page; unsaved work is kept.");
  return EM_TRUE;
}

EM_BOOL onTouch(int type, const EmscriptenTouchEvent* event, void* user) {
  const bool ending = type == EMSCRIPTEN_EVENT_TOUCHEND || type == EMSCRIPTEN_EVENT_TOUCHCANCEL;
  std::vector<Finger> fingers;
  for (int i = 0; i < event->numTouches; ++i) {
    const EmscriptenTouchPoint& touch = event->touches[i];
    if (ending && touch.isChanged) continue;
    fingers.push_back(
        {static_cast<float>(touch.targetX) * ratio(), static_cast<float>(touch.targetY) * ratio()});
  }
  stateOf(user)->touches.take(fingers, ratio(), event->timestamp / 1000);
  return EM_TRUE;
}

/// Makes the canvas as large as the page, in device pixels.
void fitCanvas(Window::State& state) {
  double width = 0, height = 0;
  emscripten_get_element_css_size(kCanvas, &width, &height);
  const int wide = static_cast<int>(std::lround(width * ratio()));
  const int high = static_cast<int>(std::lround(height * ratio()));
  if (wide == state.width && high == state.height) return;
  state.width = wide;
  state.height = high;
  state.refresh = true;
  emscripten_set_canvas_element_size(kCanvas, wide, high);
}

void setClipboard(void* user, const char* text) {
  stateOf(user)->clipboard = text;
  headscopePageCopy(text);
}

const char* getClipboard(void* user) {
  return stateOf(user)->clipboard.c_str();
}

void listen(Window::State* state) {
  const char* const window = EMSCRIPTEN_EVENT_TARGET_WINDOW;
  emscripten_set_keydown_callback(window, state, EM_FALSE, onKey);
  emscripten_set_keyup_callback(window, state, EM_FALSE, onKey);
  emscripten_set_mousemove_callback(kCanvas, state, EM_FALSE, onMouse);
  emscripten_set_mousedown_callback(kCanvas, state, EM_FALSE, onMouse);
  emscripten_set_mouseup_callback(window, state, EM_FALSE, onRelease);
  emscripten_set_mouseleave_callback(kCanvas, state, EM_FALSE, onLeave);
  emscripten_set_wheel_callback(kCanvas, state, EM_FALSE, onWheel);
  emscripten_set_touchstart_callback(kCanvas, state, EM_FALSE, onTouch);
  emscripten_set_touchmove_callback(kCanvas, state, EM_FALSE, onTouch);
  emscripten_set_touchend_callback(kCanvas, state, EM_FALSE, onTouch);
  emscripten_set_touchcancel_callback(kCanvas, state, EM_FALSE, onTouch);
  emscripten_set_blur_callback(window, state, EM_FALSE, onBlur);
  emscripten_set_resize_callback(window, state, EM_FALSE, onResize);
  emscripten_set_fullscreenchange_callback(EMSCRIPTEN_EVENT_TARGET_DOCUMENT, state, EM_FALSE, onFullScreen);
  emscripten_set_webglcontextlost_callback(kCanvas, state, EM_FALSE, onContext);
}

}  // namespace

bool Window::displayAvailable() {
  return true;
}

Window::Window(const std::string& title, int width, int height) : state_(std::make_unique<State>()) {
  open(title, width, height, nullptr);
}

Window::Window(const std::string&, int, int, Window&) {
  throw std::runtime_error("a page has one window");
}

void Window::open(const std::string& title, int, int, Window*) {
  EmscriptenWebGLContextAttributes wanted;
  emscripten_webgl_init_context_attributes(&wanted);
  wanted.majorVersion = 2;
  wanted.alpha = wanted.depth = wanted.stencil = wanted.antialias = EM_FALSE;
  wanted.preserveDrawingBuffer = EM_TRUE;  // keeps what isn't redrawn, as on the desktop
  state_->context = emscripten_webgl_create_context(kCanvas, &wanted);
  if (state_->context <= 0) throw std::runtime_error("this browser has no WebGL 2, which Headscope needs");
  makeCurrent();
  setTitle(title);
  fitCanvas(*state_);
  listen(state_.get());
}

Window::~Window() {
  emscripten_html5_remove_all_event_listeners();
  emscripten_webgl_destroy_context(state_->context);
}

void Window::makeCurrent() {
  emscripten_webgl_make_context_current(state_->context);
}

DesktopBox Window::box() const {
  return {0, 0, width(), height()};
}

void Window::moveTo(const DesktopBox&) {}
void Window::fill(const DesktopBox&) {}

void Window::sendEventsTo(InputQueue& queue) {
  state_->queue = &queue;
  compat::useClipboard<getClipboard, setClipboard>(state_.get());
}

void Window::wait(double) {}
void Window::wake() {}
bool Window::shouldClose() const {
  return false;
}
void Window::keepOpen() {}

void Window::present() {
  const ImGuiMouseCursor cursor = ImGui::GetMouseCursor();
  const char* const shape = cursor == ImGuiMouseCursor_TextInput ? "text"
                            : cursor == ImGuiMouseCursor_None    ? "none"
                                                                 : "default";
  if (state_->cursor != shape) headscopePageCursor((state_->cursor = shape).c_str());
  State::Typing typing{.types = ImGui::GetIO().WantTextInput};
  if (const auto caret = tracked("caret"); caret && typing.types)
    typing = {true, caret->Min.x / ratio(), caret->Min.y / ratio(), caret->GetHeight() / ratio()};
  if (state_->typing == typing) return;
  state_->typing = typing;
  headscopePageTyping(typing.types, typing.x, typing.y, typing.height);
}

void Window::setTitle(const std::string& title) {
  emscripten_set_window_title(title.c_str());
}

void Window::setFullScreen(bool full) {
  if (std::exchange(state_->full, full) != full) headscopePageFullScreen(full);
}

bool Window::takeRefresh() {
  state_->touches.wait(seconds());
  fitCanvas(*state_);
  return std::exchange(state_->refresh, false);
}

int Window::width() const {
  return state_->width;
}

int Window::height() const {
  return state_->height;
}

float Window::scale() const {
  return std::max(1.0f, std::round(ratio() * 4) / 4);
}

}  // namespace headscope::app

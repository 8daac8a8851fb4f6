#include "tests/support/ui_driver.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "app/platform/track.h"
#include "app/scene/scene_json.h"
#include "app/widgets/panel.h"
#include "render/gl.h"
#include "tests/support/compare_image.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {

using app::InputEvent;
using app::Key;
using app::Mods;

namespace {

/// Sets a temporary home folder before the program starts, so that nothing it stores lasts.
int atTemporaryHome(int width) {
  static const TemporaryFolder folder;
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  return width;
}

/// The first code point of valid UTF-8, and its length in bytes.
std::pair<std::uint32_t, std::size_t> decoded(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i)
    code = (code << 6) | (static_cast<unsigned char>(text.at(i)) & 0x3Fu);
  return {code, length};
}

/// The key that types a character on an English keyboard; none if there is no such key.
Key keyFor(std::uint32_t code) {
  if (code >= 'a' && code <= 'z') return static_cast<Key>(code - 'a' + 'A');
  if ((code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9')) return static_cast<Key>(code);
  return code == ' ' || code == '-' || code == '.' || code == ',' || code == '/' ? static_cast<Key>(code)
                                                                                 : Key::none;
}

}  // namespace

UiDriver::UiDriver(int width, int height, float scale, std::span<const app::PageRow> rows,
                   const app::Limits& limits)
    : width_(atTemporaryHome(width)), height_(height), app_(width, height, scale, rows, limits) {
  app::uiState().unfolds = true;  // as for somebody who has opened all sections
  // Most frames of a test are never read, so pixels, which cost most, are not drawn.
  glEnable(GL_RASTERIZER_DISCARD);
  park();
}

render::Image UiDriver::screenshot() {
  glDisable(GL_RASTERIZER_DISCARD);
  app_.forgetFrame();
  app_.frame();
  const render::Image image = app_.image();
  glEnable(GL_RASTERIZER_DISCARD);
  return image;
}

render::Image UiDriver::screenshot(const std::string& control) {
  const ImRect rect = find(control);
  return cropped(screenshot(), static_cast<int>(std::floor(rect.Min.x)),
                 static_cast<int>(std::floor(rect.Min.y)), static_cast<int>(std::ceil(rect.Max.x)),
                 static_cast<int>(std::ceil(rect.Max.y)));
}

std::string UiDriver::textOf(const app::Scene& scene) {
  return app::formatScene(scene);
}

const app::Snapshot& UiDriver::snapshot() {
  if (!session().snapshot()) throw std::runtime_error("nothing was computed yet");
  return *session().snapshot();
}

const app::SequenceSnapshot& UiDriver::sequence() {
  const app::SequenceSnapshot* shown = app::shownSequence(scene(), session().snapshot());
  if (!shown) throw std::runtime_error("no sequence is shown");
  return *shown;
}

UiDriver& UiDriver::frames(int count) {
  for (int i = 0; i < count; ++i) app_.frame();
  return *this;
}

UiDriver& UiDriver::show(const app::Scene& scene) {
  session().setScene(scene);
  return draw();
}

UiDriver& UiDriver::request(const std::string& action) {
  view().request(action);
  return draw();
}

UiDriver& UiDriver::resize(int width, int height, float scale) {
  width_ = width;
  height_ = height;
  app_.resize(width, height, scale);
  return park();
}

bool UiDriver::has(const std::string& name) const {
  return app::tracked(name).has_value();
}

bool UiDriver::says(std::string_view text) const {
  return std::ranges::any_of(app::uiState().texts, [&](const app::DrawnText& drawn) {
    return drawn.text.find(text) != std::string::npos;
  });
}

std::vector<std::string> UiDriver::names(const std::string& prefix) const {
  std::vector<std::string> result;
  for (const auto& [name, rect] : app::allTracked())
    if (name.rfind(prefix, 0) == 0) result.push_back(name);
  return result;
}

ImRect UiDriver::require(const std::string& name) {
  if (const auto rect = app::tracked(name)) return *rect;
  std::string known;
  for (const std::string& other : names()) known += (known.empty() ? "" : ", ") + other;
  throw std::runtime_error("no control \"" + name + "\" is on screen; there are: " + known);
}

UiDriver::Container UiDriver::containerOf(const std::string& name, const ImRect& rect) {
  const auto begins = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  const ImRect window(0, 0, static_cast<float>(width_), static_cast<float>(height_));
  if (const auto& popups = ImGui::GetCurrentContext()->OpenPopupStack;
      popups.Size > 0 && popups.back().Window) {
    ImRect popup = popups.back().Window->Rect();
    const ImVec2 middle = popup.GetCenter();
    popup.ClipWith(window);
    return {popup, middle, true};
  }
  if (view().dialog) {
    if (auto dialog = app::tracked("dialog")) {
      // The gallery's cards scroll between its search line and its footer.
      if (begins("gallery.") && name != "gallery.search") {
        dialog->Min.y += view().px(86);
        dialog->Max.y -= view().px(58);
      }
      return {*dialog, dialog->GetCenter(), true};
    }
  }
  const app::Layout layout =
      app::layoutFor(view(), window.Max.x, window.Max.y, scene().cursor.page != "map", false);
  // A panel's edge is padding, where the wheel never reaches a slider.
  const auto panel = [](const ImRect& area) {
    return Container{area, ImVec2(area.Min.x + 4, area.GetCenter().y), true};
  };
  if (begins("bars.") || begins("top.")) return panel(layout.right);
  const bool studio = scene().cursor.page == "mask";
  if (studio && layout.showRight && rect.GetCenter().x > layout.right.Min.x && rect.Min.y > layout.top.Max.y)
    return panel(layout.right);
  const bool apart =
      begins("bar.") || begins("page.") || name == "error" || name == "notice" || name == "catching_up";
  if (layout.showLeft && !apart && rect.GetCenter().x < layout.left.Max.x) return panel(layout.left);
  return {window, {}, false};
}

bool UiDriver::visible(const std::string& name) {
  const auto rect = app::tracked(name);
  return rect && containerOf(name, *rect).visible.Contains(*rect);
}

ImRect UiDriver::find(const std::string& name) {
  float before = -1e9f;
  for (int turns = 0; turns < 400; ++turns) {
    const ImRect rect = require(name);
    const Container container = containerOf(name, rect);
    const float middle = rect.GetCenter().y, top = container.visible.Min.y, bottom = container.visible.Max.y;
    // A margin, so that small controls show whole and nothing lies at the very edge.
    const float margin = std::min(rect.GetHeight() / 2, (bottom - top) / 4);
    if (middle - margin >= top && middle + margin <= bottom) return rect;
    if (!container.scrolls || middle == before)
      throw std::runtime_error("\"" + name + "\" is at y = " + std::to_string(middle) +
                               ", outside of what is visible (" + std::to_string(top) + " to " +
                               std::to_string(bottom) + "), and can't be scrolled to");
    before = middle;
    pushMove(container.wheelAt.x, container.wheelAt.y);
    app_.frame();
    InputEvent event;
    event.kind = InputEvent::Kind::wheel;
    event.y = middle > bottom - margin ? -1.0f : 1.0f;
    app_.input().push(event);
    frames(3);
  }
  throw std::runtime_error("\"" + name + "\" could not be scrolled to");
}

void UiDriver::pushMove(float x, float y) {
  InputEvent event;
  event.x = x;
  event.y = y;
  app_.input().push(event);
  mouse_ = ImVec2(x, y);
}

void UiDriver::pushButton(int button, bool down, Mods mods) {
  InputEvent event;
  event.mods = mods;
  event.kind = InputEvent::Kind::mouseButton;
  event.button = button;
  event.down = down;
  app_.input().push(event);
}

UiDriver& UiDriver::scrollToTop() {
  const app::Layout layout = app::layoutFor(view(), static_cast<float>(width_), static_cast<float>(height_),
                                            scene().cursor.page != "map", false);
  pushMove(layout.left.Min.x + 4, layout.left.GetCenter().y);
  app_.frame();
  for (int i = 0; i < 60; ++i) {
    InputEvent event;
    event.kind = InputEvent::Kind::wheel;
    event.y = 1;
    app_.input().push(event);
    app_.frame();
  }
  return draw();
}

/// Waits so that two clicks close together aren't taken for a double click.
void UiDriver::waitOutDoubleClick() {
  const bool near = std::abs(mouse_.x - pressedAt_.x) < 8 && std::abs(mouse_.y - pressedAt_.y) < 8;
  while (near && view().time - pressedTime_ < 0.4) app_.frame();
  pressedAt_ = mouse_;
  pressedTime_ = view().time;
}

UiDriver& UiDriver::moveTo(float x, float y) {
  pushMove(x, y);
  return draw();
}

UiDriver& UiDriver::park() {
  return moveTo(2, 2);
}

UiDriver& UiDriver::hoverAt(const std::string& name, float fx, float fy) {
  const ImRect rect = find(name);
  return moveTo(rect.Min.x + fx * rect.GetWidth(), rect.Min.y + fy * rect.GetHeight());
}

UiDriver& UiDriver::press(int button) {
  waitOutDoubleClick();
  pushButton(button, true);
  app_.frame();
  return *this;
}

UiDriver& UiDriver::release(int button) {
  pushButton(button, false);
  return draw();
}

UiDriver& UiDriver::clickAt(const std::string& name, float fx, float fy) {
  const ImRect rect = find(name);
  pushMove(rect.Min.x + fx * rect.GetWidth(), rect.Min.y + fy * rect.GetHeight());
  app_.frame();
  press();
  return release();
}

UiDriver& UiDriver::clickAway() {
  pushMove(2, 2);
  app_.frame();
  press();
  return release();
}

UiDriver& UiDriver::doubleClick(const std::string& name) {
  const ImVec2 middle = find(name).GetCenter();
  pushMove(middle.x, middle.y);
  app_.frame();
  waitOutDoubleClick();
  for (const bool down : {true, false, true, false}) pushButton(0, down);
  return draw();
}

UiDriver& UiDriver::dragAcross(const std::string& name, ImVec2 from, ImVec2 to) {
  constexpr int kMoves = 12;
  const ImRect rect = find(name);
  const auto at = [&](float t) {
    return ImVec2(rect.Min.x + (from.x + t * (to.x - from.x)) * rect.GetWidth(),
                  rect.Min.y + (from.y + t * (to.y - from.y)) * rect.GetHeight());
  };
  pushMove(at(0).x, at(0).y);
  app_.frame();
  press();
  for (int i = 1; i <= kMoves; ++i) {
    const ImVec2 place = at(static_cast<float>(i) / kMoves);
    pushMove(place.x, place.y);
    app_.frame();
  }
  return release();
}

UiDriver& UiDriver::wheel(const std::string& name, float steps) {
  return wheelAt(name, 0.5f, 0.5f, steps);
}

UiDriver& UiDriver::wheelAt(const std::string& name, float fx, float fy, float steps, app::Mods mods) {
  hoverAt(name, fx, fy);
  InputEvent event;
  event.kind = InputEvent::Kind::wheel;
  event.mods = mods;
  for (float left = std::abs(steps); left > 0; left -= 1) {
    event.y = std::copysign(std::min(left, 1.0f), steps);
    app_.input().push(event);
    app_.frame();
  }
  return draw();
}

UiDriver& UiDriver::dragTo(const std::string& slider, float fraction) {
  return dragAcross(slider + ".track", ImVec2(0.5f, 0.5f), ImVec2(fraction, 0.5f));
}

UiDriver& UiDriver::typeValue(const std::string& slider, std::string_view text) {
  doubleClick(slider + ".value");
  chord(kCtrl, Key::a);
  key(Key::del);
  type(text);
  return key(Key::enter);
}

UiDriver& UiDriver::choose(const std::string& dropdown, const std::string& choice) {
  click(dropdown);
  return click(dropdown + "." + choice);
}

UiDriver& UiDriver::type(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto [code, length] = decoded(utf8);
    utf8.remove_prefix(length);
    const Key pressed = code == '\n' ? Key::enter : keyFor(code);
    const Mods mods{.shift = code >= 'A' && code <= 'Z'};
    if (pressed != Key::none) pushKey(pressed, mods, true);
    if (code != '\n') {
      InputEvent event;
      event.kind = InputEvent::Kind::text;
      event.codepoint = code;
      app_.input().push(event);
    }
    if (pressed != Key::none) pushKey(pressed, mods, false);
  }
  return draw();
}

UiDriver& UiDriver::replaceText(const std::string& box, std::string_view utf8) {
  click(box);
  chord(kCtrl, Key::a);
  key(Key::del);
  return type(utf8);
}

UiDriver& UiDriver::pushKey(Key pressed, Mods mods, bool down) {
  InputEvent event;
  event.kind = InputEvent::Kind::key;
  event.key = pressed;
  event.mods = mods;
  event.down = down;
  app_.input().push(event);
  return *this;
}

UiDriver& UiDriver::key(Key pressed, Mods mods) {
  pushKey(pressed, mods, true);
  pushKey(pressed, mods, false);
  // The window doesn't hear about modifiers alone; this releases them before anything else happens.
  pushKey(Key::none, {}, false);
  return draw();
}

UiDriver& UiDriver::drop(const std::vector<std::string>& paths) {
  InputEvent event;
  event.kind = InputEvent::Kind::drop;
  event.paths = paths;
  app_.input().push(event);
  return draw();
}

}  // namespace headscope::test

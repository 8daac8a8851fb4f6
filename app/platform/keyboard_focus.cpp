#include "app/platform/keyboard_focus.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headscope::app {

namespace {

const ImGuiWindow* openList() {
  const auto& open = ImGui::GetCurrentContext()->OpenPopupStack;
  return open.Size > 0 ? open.back().Window : nullptr;
}

/// Returns the distance to `to` in a direction, plus a penalty for being off to the side; infinity if it
/// isn't that way.
float distance(const ImRect& from, const ImRect& to, int right, int down) {
  const ImVec2 a = from.GetCenter(), b = to.GetCenter();
  const float along = right * (b.x - a.x) + down * (b.y - a.y);
  const float aside = std::abs(right != 0 ? b.y - a.y : b.x - a.x);
  const bool beyond = right > 0   ? to.Min.x >= from.Max.x - 1
                      : right < 0 ? to.Max.x <= from.Min.x + 1
                      : down > 0  ? to.Min.y >= from.Max.y - 1
                                  : to.Max.y <= from.Min.y + 1;
  constexpr float kAside = 2.5f;
  return beyond ? along + kAside * aside : std::numeric_limits<float>::infinity();
}

}  // namespace

void KeyboardFocus::beginFrame() {
  last_ = std::exchange(noted_, {});
  last_.erase(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(std::exchange(uncovered_, 0)));
  covered_ = false;
}

void KeyboardFocus::note(const TabStop& control) {
  noted_.push_back(control);
}

void KeyboardFocus::noteKind(TabStopKind kind, ImVec2 cell) {
  if (noted_.empty()) return;
  noted_.back().kind = kind;
  noted_.back().cell = cell;
}

void KeyboardFocus::cover() {
  uncovered_ = noted_.size();
  covered_ = true;
}

std::vector<TabStop> KeyboardFocus::reachable() const {
  std::vector<TabStop> found = last_;
  if (const ImGuiWindow* list = openList())
    std::erase_if(found, [&](const TabStop& each) { return each.window->RootWindow != list; });
  return found;
}

const TabStop* KeyboardFocus::among(const std::vector<TabStop>& controls) const {
  const auto found =
      std::find_if(controls.begin(), controls.end(), [&](const TabStop& each) { return each.id == id_; });
  return on_ && found != controls.end() ? &*found : nullptr;
}

const TabStop* KeyboardFocus::control() const {
  return among(last_);
}

const TabStop* KeyboardFocus::drawn() const {
  return among(noted_);
}

void KeyboardFocus::go(const TabStop& control) {
  on_ = true;
  id_ = control.id;
  missed_ = 0;
  // Go to the end of a text, or to the first cell of a picture.
  share_ = control.kind == TabStopKind::text      ? ImVec2(0.98f, 0.9f)
           : control.kind == TabStopKind::picture ? ImVec2(control.cell.x / control.area.GetWidth() / 2,
                                                           control.cell.y / control.area.GetHeight() / 2)
                                                  : ImVec2(0.5f, 0.5f);
  place_ = ImVec2(control.area.Min.x + share_.x * control.area.GetWidth(),
                  control.area.Min.y + share_.y * control.area.GetHeight());
  if (control.kind == TabStopKind::text) press(0);
}

bool KeyboardFocus::goInto(const ImRect& area) {
  const auto found = std::find_if(noted_.begin(), noted_.end(),
                                  [&](const TabStop& each) { return area.Contains(each.area.GetCenter()); });
  if (found == noted_.end()) return false;
  go(*found);
  return true;
}

void KeyboardFocus::step(int by) {
  const std::vector<TabStop> controls = reachable();
  if (controls.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(controls.size());
  const auto now =
      std::find_if(controls.begin(), controls.end(), [&](const TabStop& each) { return each.id == id_; });
  const bool from = on_ && now != controls.end();
  const std::ptrdiff_t next = from ? now - controls.begin() + by : by > 0 ? 0 : count - 1;
  go(controls[static_cast<std::size_t>((next + count) % count)]);
}

bool KeyboardFocus::move(int right, int down) {
  const TabStop* const now = control();
  if (!now) return false;
  if (now->kind == TabStopKind::slider) return false;
  if (now->kind == TabStopKind::picture) {
    const ImVec2 next(place_.x + static_cast<float>(right) * now->cell.x,
                      place_.y + static_cast<float>(down) * now->cell.y);
    if (now->area.Contains(next)) {
      place_ = next;
      share_ = ImVec2((next.x - now->area.Min.x) / now->area.GetWidth(),
                      (next.y - now->area.Min.y) / now->area.GetHeight());
      return true;
    }
  }
  const std::vector<TabStop> controls = reachable();
  const auto nearer = [&](const TabStop& a, const TabStop& b) {
    return distance(now->area, a.area, right, down) < distance(now->area, b.area, right, down);
  };
  const auto best = std::min_element(controls.begin(), controls.end(), nearer);
  if (best != controls.end() && std::isfinite(distance(now->area, best->area, right, down))) go(*best);
  return true;
}

void KeyboardFocus::press(int button) {
  edge_.button = button;
  pressing_ = 2;
}

void KeyboardFocus::release() {
  on_ = false;
  pressing_ = 0;
  opener_ = 0;
}

const KeyboardFocus::Edge* KeyboardFocus::takeEdge() {
  if (pressing_ == 0) return nullptr;
  edge_.down = pressing_-- == 2;
  return &edge_;
}

bool KeyboardFocus::follow() {
  if (!on_) return false;
  const ImGuiWindow* const list = openList();
  const auto drawn = [&](ImGuiID id) {
    return std::find_if(noted_.begin(), noted_.end(), [&](const TabStop& each) { return each.id == id; });
  };
  auto now = drawn(id_);
  // Moves into the list that the control opened, and back when the list closes.
  if (list && opener_ == 0 && now != noted_.end() && now->window->RootWindow != list) {
    const auto first = std::find_if(noted_.begin(), noted_.end(),
                                    [&](const TabStop& each) { return each.window->RootWindow == list; });
    if (first == noted_.end()) return true;
    opener_ = id_;
    go(*first);
    return true;
  }
  if (!list && opener_ != 0) {
    if (const auto back = drawn(std::exchange(opener_, 0)); back != noted_.end()) go(*(now = back));
    pressing_ = 0;
  }
  if (now == noted_.end()) {
    constexpr int kGone = 3;
    if (!covered_ && ++missed_ >= kGone) release();
    return on_ && !covered_;
  }
  missed_ = 0;
  const ImVec2 place(now->area.Min.x + share_.x * now->area.GetWidth(),
                     now->area.Min.y + share_.y * now->area.GetHeight());
  const bool moved = place.x != place_.x || place.y != place_.y;
  place_ = place;
  ImRect whole = now->area;
  whole.Expand(-1.5f);
  const bool hidden = !now->seen.Contains(whole);
  if (hidden) compat::scrollTo(now->window, now->area);
  return moved || pressing_ > 0;
}

}  // namespace headscope::app

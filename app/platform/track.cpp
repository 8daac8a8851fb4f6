#include "app/platform/track.h"

#include <algorithm>
#include <cfloat>

#include "app/platform/keyboard_focus.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

ImRect reachable() {
  ImRect area(-FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX);
  // A panel that scrolls can bring its content into itself, whatever the panels around it cut off.
  bool scrollsX = false, scrollsY = false;
  for (const ImGuiWindow* at = ImGui::GetCurrentContext()->CurrentWindow; at;
       at = at->Flags & ImGuiWindowFlags_ChildWindow ? at->ParentWindow : nullptr) {
    const ImRect& own = at->InnerRect;
    const bool scrolls = !(at->Flags & ImGuiWindowFlags_NoScrollWithMouse);
    scrollsX = scrollsX || (scrolls && at->ScrollMax.x > 0);
    scrollsY = scrollsY || (scrolls && at->ScrollMax.y > 0);
    if (!scrollsX) area.Min.x = std::max(area.Min.x, own.Min.x), area.Max.x = std::min(area.Max.x, own.Max.x);
    if (!scrollsY) area.Min.y = std::max(area.Min.y, own.Min.y), area.Max.y = std::min(area.Max.y, own.Max.y);
  }
  return area;
}

void track(const std::string& name, ImVec2 from, ImVec2 to) {
  UiState& state = uiState();
  state.tracks[name] = ImRect(from, to);
  const ImGuiWindow* window = ImGui::GetCurrentContext()->CurrentWindow;
  if (!state.watches || !window) return;
  state.clips[name] = {window->ClipRect, reachable()};
}

void trackItem(const std::string& name) {
  track(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

bool hitArea(const std::string& name, ImVec2 size) {
  const bool clicked = compat::invisibleButton(name.c_str(), size);
  trackItem(name);
  return clicked;
}

bool hitArea(const std::string& name, ImVec2 from, ImVec2 size) {
  ImGui::SetCursorScreenPos(from);
  return hitArea(name, size);
}

void trackTokens(const std::string& name, const TokenPlaces& places) {
  TokenPlaces& known = uiState().tokens[name];
  if (places.rows) known.rows = places.rows;
  if (places.columns) known.columns = places.columns;
  known.first = places.first;
}

const TokenPlaces* trackedTokens(const std::string& name) {
  const auto found = uiState().tokens.find(name);
  return found == uiState().tokens.end() ? nullptr : &found->second;
}

std::optional<ImRect> tracked(const std::string& name) {
  const auto found = allTracked().find(name);
  if (found == allTracked().end()) return std::nullopt;
  return found->second;
}

const std::map<std::string, ImRect>& allTracked() {
  return uiState().tracks;
}

// Reports controls to the keyboard focus of their context while they are drawn.

namespace {

/// Returns the part of the area that the window and the panels around it show.
ImRect seenOf(const ImGuiWindow& window, ImRect area) {
  area.ClipWith(window.ClipRect);
  return area;
}

}  // namespace

void noteTabStop() {
  ImGuiWindow* const window = ImGui::GetCurrentWindow();
  if (window->SkipItems) return;
  const ImRect area(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  uiState().focus.note({ImGui::GetItemID(), window, area, seenOf(*window, area), TabStopKind::button, {}});
}

void noteTabStop(ImGuiID id, const ImRect& area, TabStopKind kind) {
  ImGuiWindow* const window = ImGui::GetCurrentWindow();
  if (!window->SkipItems) uiState().focus.note({id, window, area, seenOf(*window, area), kind, {}});
}

void noteTabStopKind(TabStopKind kind, ImVec2 cell) {
  uiState().focus.noteKind(kind, cell);
}

}  // namespace headscope::app

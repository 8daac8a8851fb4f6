// What controls say of themselves while they are drawn, to the keyboard's focus of their context.

#include "app/platform/keyboard_focus.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

namespace {

/// What a panel that scrolls shows of a rectangle, and the panels around it.
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

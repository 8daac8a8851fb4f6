// Reports controls to the keyboard focus of their context while they are drawn.

#include "app/platform/keyboard_focus.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

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

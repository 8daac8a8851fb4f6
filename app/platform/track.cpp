#include "app/platform/track.h"

#include "app/platform/ui_state.h"

namespace headscope::app {

void track(const std::string& name, ImVec2 from, ImVec2 to) {
  UiState& state = uiState();
  state.tracks[name] = ImRect(from, to);
  const ImGuiWindow* window = ImGui::GetCurrentContext()->CurrentWindow;
  if (!state.watches || !window) return;
  state.clips[name] = {window->ClipRect, window->ScrollMax.x > 0, window->ScrollMax.y > 0};
}

void trackItem(const std::string& name) {
  track(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

std::optional<ImRect> tracked(const std::string& name) {
  const auto found = allTracked().find(name);
  if (found == allTracked().end()) return std::nullopt;
  return found->second;
}

const std::map<std::string, ImRect>& allTracked() {
  return uiState().tracks;
}

}  // namespace headscope::app

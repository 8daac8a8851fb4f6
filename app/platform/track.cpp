#include "app/platform/track.h"

#include "app/platform/ui_state.h"

namespace headscope::app {

Scrolls scrollsAround() {
  Scrolls scrolls;
  for (const ImGuiWindow* at = ImGui::GetCurrentContext()->CurrentWindow; at;
       at = at->Flags & ImGuiWindowFlags_ChildWindow ? at->ParentWindow : nullptr) {
    scrolls.x = scrolls.x || at->ScrollMax.x > 0;
    scrolls.y = scrolls.y || at->ScrollMax.y > 0;
  }
  return scrolls;
}

void track(const std::string& name, ImVec2 from, ImVec2 to) {
  UiState& state = uiState();
  state.tracks[name] = ImRect(from, to);
  const ImGuiWindow* window = ImGui::GetCurrentContext()->CurrentWindow;
  if (!state.watches || !window) return;
  const Scrolls scrolls = scrollsAround();
  state.clips[name] = {window->ClipRect, scrolls.x, scrolls.y};
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

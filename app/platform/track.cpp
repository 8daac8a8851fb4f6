#include "app/platform/track.h"

namespace headscope::app {

namespace {
std::map<std::string, ImRect>& tracks() {
  static std::map<std::string, ImRect> map;
  return map;
}
}  // namespace

void clearTracks() {
  tracks().clear();
}

void track(const std::string& name, ImVec2 from, ImVec2 to) {
  tracks()[name] = ImRect(from, to);
}

void trackItem(const std::string& name) {
  track(name, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

std::optional<ImRect> tracked(const std::string& name) {
  const auto found = tracks().find(name);
  if (found == tracks().end()) return std::nullopt;
  return found->second;
}

const std::map<std::string, ImRect>& allTracked() {
  return tracks();
}

}  // namespace headscope::app

#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/platform/imgui_compat.h"
#include "app/platform/token_places.h"

namespace headscope::app {

// Where each named control stood in the frame that was drawn last, so that tests can click on it by
// name. Main thread alone, like ImGui itself.

void track(const std::string& name, ImVec2 from, ImVec2 to);
/// Records ImGui's last item.
void trackItem(const std::string& name);
/// An invisible button over an area, or at the cursor, recorded under its name: whether it was clicked. It is
/// ImGui's last item.
bool hitArea(const std::string& name, ImVec2 size);
bool hitArea(const std::string& name, ImVec2 from, ImVec2 size);
inline bool hitArea(const std::string& name, const ImRect& area) {
  return hitArea(name, area.Min, area.GetSize());
}
/// Where what is drawn into the current window can be seen once the panels around it are scrolled: within
/// those of its windows that don't scroll.
ImRect reachable();
/// Of what is tracked as `name`; of words, as "name.0", "name.1" and so on, `columns` alone. Null leaves what
/// was said before.
void trackTokens(const std::string& name, const TokenPlaces& places);
/// Null where nothing was said of `name` in this frame.
const TokenPlaces* trackedTokens(const std::string& name);
std::optional<ImRect> tracked(const std::string& name);
const std::map<std::string, ImRect>& allTracked();

}  // namespace headscope::app

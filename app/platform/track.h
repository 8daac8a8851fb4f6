#pragma once

#include "app/platform/frame_recorder.h"
#include "app/platform/imgui_compat.h"

namespace headscope::app {

// The position of each named control in the last frame, so that tests can click on it by name. Call on the
// main thread only, like ImGui itself.

void track(const std::string& name, ImVec2 from, ImVec2 to);
/// Records ImGui's last item.
void trackItem(const std::string& name);
/// Adds an invisible button over an area, or at the cursor, and records it under its name. Returns whether it
/// was clicked. It becomes ImGui's last item.
bool hitArea(const std::string& name, ImVec2 size);
bool hitArea(const std::string& name, ImVec2 from, ImVec2 size);
inline bool hitArea(const std::string& name, const ImRect& area) {
  return hitArea(name, area.Min, area.GetSize());
}
/// Returns where content of the current window can be seen after scrolling: inside those of its windows that
/// don't scroll.
ImRect reachable();
/// Sets the tokens of what is tracked as `name`. For words tracked as "name.0", "name.1" and so on, only
/// `columns` applies. Null keeps the previous value.
void trackTokens(const std::string& name, const TokenPlaces& places);
/// Returns null if no tokens were set for `name` in this frame.
const TokenPlaces* trackedTokens(const std::string& name);
std::optional<ImRect> tracked(const std::string& name);
const std::map<std::string, ImRect>& allTracked();

}  // namespace headscope::app

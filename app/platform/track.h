#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

// Where each named control stood in the frame that was drawn last, so that tests can click on it by
// name. Main thread alone, like ImGui itself.

void track(const std::string& name, ImVec2 from, ImVec2 to);
/// Records ImGui's last item.
void trackItem(const std::string& name);
/// Whether what is in the window that is filled can be scrolled, also by a panel around it.
struct Scrolls {
  bool x = false, y = false;
};
Scrolls scrollsAround();
std::optional<ImRect> tracked(const std::string& name);
const std::map<std::string, ImRect>& allTracked();

}  // namespace headscope::app

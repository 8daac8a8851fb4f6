#pragma once

#include <map>
#include <string>

#include "app/platform/imgui_compat.h"
#include "app/platform/supplementary.h"

namespace headscope::app {

/// What belongs to one Dear ImGui context beside what that keeps itself. A Ui owns it; on its thread alone.
struct UiState {
  std::map<std::string, ImRect> tracks;  ///< see platform/track.h
  StandIns standIns;
};

/// That of the current context, which has to be a Ui's.
inline UiState& uiState() {
  return *static_cast<UiState*>(ImGui::GetIO().UserData);
}

}  // namespace headscope::app

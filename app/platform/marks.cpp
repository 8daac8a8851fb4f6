#include "app/platform/marks.h"

#include <algorithm>

#include "app/platform/ui_state.h"

namespace headscope::app {

bool drawsMark(Canvas list, const char* name, ImVec2 from, ImVec2 to) {
  UiState& state = uiState();
  if (state.watches) {
    const ImVec2 clipFrom = list.GetClipRectMin(), clipTo = list.GetClipRectMax();
    state.marks.push_back({name, ImRect(ImVec2(std::max(from.x, clipFrom.x), std::max(from.y, clipFrom.y)),
                                        ImVec2(std::min(to.x, clipTo.x), std::min(to.y, clipTo.y)))});
  }
  return !state.hidesMarks;
}

}  // namespace headscope::app

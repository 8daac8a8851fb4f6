#include "app/shell/focus_ring.h"

#include <algorithm>

#include "app/platform/marks.h"
#include "app/platform/ui_state.h"
#include "app/widgets/paint.h"

namespace headscope::app {

/// Draws a dark and a light line, so that the ring is visible on everything.
void focusRing(View& view) {
  KeyboardFocus& focus = uiState().focus;
  if (focus.follow()) view.redraw();
  const TabStop* const control = focus.drawn();
  if (!control || ImGui::GetIO().WantTextInput) return;
  ImRect area = control->seen;
  if (area.GetWidth() <= 0 || area.GetHeight() <= 0) return;
  // Keeps the ring of a control at the window's edge inside the window.
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float edge = view.px(2);
  area.Expand(view.px(2));
  area.Min = ImVec2(std::max(area.Min.x, edge), std::max(area.Min.y, edge));
  area.Max = ImVec2(std::min(area.Max.x, screen.x - edge), std::min(area.Max.y, screen.y - edge));
  Canvas list = *ImGui::GetForegroundDrawList();
  if (!drawsMark(list, "focus.ring", area.Min, area.Max)) return;
  compat::rectOutline(list, area.Min, area.Max, view.theme->background, view.px(6),
                      std::max(3.0f, view.px(4.5f)));
  compat::rectOutline(list, area.Min, area.Max, view.theme->text, view.px(6), std::max(1.0f, view.px(2)));
}

}  // namespace headscope::app

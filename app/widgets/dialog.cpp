#include "app/widgets/dialog.h"

#include <algorithm>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/widgets/paint.h"

namespace headscope::app {

bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float w = std::min(view.px(width), screen.x - view.px(24)),
              h = std::min(view.px(height), screen.y - view.px(24));
  // A pane over the whole window, below the dialog, catches clicks outside; they close the dialog.
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(screen);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, atBottom            ? 0u
                                           : view.theme->light ? IM_COL32(60, 66, 76, 110)
                                                               : IM_COL32(0, 0, 0, 150));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));  // clicks count up to the very edge
  ImGui::Begin("##shade", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  if (compat::invisibleButton("##outside", screen)) view.dialog.reset();
  uiState().focus.cover();
  compat::end();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
  ImGui::SetNextWindowPos(
      ImVec2((screen.x - w) / 2, atBottom ? screen.y - h - view.px(40) : (screen.y - h) / 2.4f));
  ImGui::SetNextWindowSize(ImVec2(w, h));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(22), view.px(18)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, view.px(12));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, view.theme->panel);
  const bool open = ImGui::Begin(name, nullptr,
                                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintText(*ImGui::GetWindowDrawList(), view.fonts->title, ImVec2(at.x, at.y + view.px(10)),
            view.theme->text, title);
  track("dialog", ImGui::GetWindowPos(), ImVec2(ImGui::GetWindowPos().x + w, ImGui::GetWindowPos().y + h));
  ImGui::Dummy(ImVec2(1, view.px(30)));
  return open;
}

void endDialog() {
  compat::end();
}

}  // namespace headscope::app

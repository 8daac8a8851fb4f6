#include "app/shell/context_menu.h"

#include <algorithm>

#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Shows one action with its shortcut on the right. Returns whether it was chosen.
bool menuLine(const View& view, const Action& action, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 to(at.x + width, at.y + view.px(30));
  const bool chosen = hitArea("menu." + action.id, ImVec2(width, to.y - at.y));
  Canvas list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) list.AddRectFilled(at, to, view.theme->line, view.px(4));
  const float y = (at.y + to.y) / 2;
  paintText(list, view.fonts->text, ImVec2(at.x + view.px(8), y), view.theme->text, action.name);
  paintText(list, view.fonts->monoSmall, ImVec2(to.x - view.px(8), y), view.theme->faint,
            shortcutText(action.shortcut), Align::right);
  return chosen;
}

}  // namespace

void ContextMenu::draw(View& view, const ActionTable& actions) {
  constexpr const char* kPopup = "context";
  if (!view.menu.empty()) {
    offered_ = std::exchange(view.menu, {});
    std::erase_if(offered_, [&](const std::string& id) { return !actions.has(id); });
    ImGui::OpenPopup(kPopup);
  }
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(8), view.px(8)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  if (ImGui::BeginPopup(kPopup, ImGuiWindowFlags_NoMove)) {
    float width = 0;
    for (const std::string& id : offered_) {
      const Action& action = actions.find(id);
      width =
          std::max(width, textWidth(view.fonts->text, action.name) +
                              textWidth(view.fonts->monoSmall, shortcutText(action.shortcut)) + view.px(48));
    }
    for (const std::string& id : offered_)
      if (menuLine(view, actions.find(id), width)) {
        view.request(id);
        ImGui::CloseCurrentPopup();
      }
    compat::endPopup();
  }
  ImGui::PopStyleVar(2);
}

}  // namespace headscope::app

#include "app/shell/shell.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void lessonOffer(View& view, const ImRect& area) {
  if (beginPanel(view, "lesson.offer", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const Theme& theme = *view.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.Min, area.Max, theme.raised);
    list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
    const float y = area.GetCenter().y, x = area.Min.x + view.px(26);
    const char *start = "Start  ▶", *decline = "Not now";
    const float buttons =
        textWidth(view.fonts->text, start) + textWidth(view.fonts->text, decline) + view.px(80);
    paintFitted(view, list, view.fonts->title, ImVec2(x, y), area.GetWidth() - buttons - view.px(70),
                theme.text, "See how eight heads read one sentence, in six minutes.");
    ImGui::SetCursorScreenPos(ImVec2(area.Max.x - buttons - view.px(10), y - view.px(14)));
    if (button(view, "offer.start", start)) view.request("lesson.begin");
    ImGui::SameLine(0, view.px(14));
    if (button(view, "offer.decline", decline, "", true)) view.request("lesson.decline");
  }
  endPanel();
}

}  // namespace headscope::app

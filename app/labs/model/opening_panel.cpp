#include "app/labs/model/model_page.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void openingPanel(Scene&, ModelPage& page, const ImRect& area) {
  View& view = page.view;
  if (beginPanel(view, "overview", area, 0, 0, 0)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float width = std::min(area.GetWidth() - view.px(60), view.px(620));
    const float x = area.GetCenter().x - width / 2;
    float y = area.Min.y + std::max(view.px(40), area.GetHeight() * 0.22f);
    paintText(list, view.fonts->hero, ImVec2(x, y), view.theme->text,
              page.opening.empty() ? "Open a model" : "Opening " + page.opening + "…");
    y += view.px(26);
    y += paintParagraph(
        list, view.fonts->text, ImVec2(x, y), width, view.theme->secondary,
        "A folder with config.json, model.safetensors and tokenizer.json, as Hugging Face lays it out: "
        "drop it on the window or choose it. Weights are mapped, nothing is copied or sent anywhere.");
    ImGui::SetCursorScreenPos(ImVec2(x, y + view.px(18)));
    if (button(view, "empty.model.learned", "Learned: the small model that comes along"))
      view.request("model.learned");
    ImGui::SameLine(0, view.px(10));
    if (button(view, "empty.model.open", "Open a folder…")) view.request("model.open");
    if (!page.cached.empty()) {
      ImGui::SetCursorScreenPos(ImVec2(x, y + view.px(70)));
      ImGui::BeginChild("cached", ImVec2(width, area.Max.y - y - view.px(90)), false,
                        ImGuiWindowFlags_NoBackground);
      sectionTitle(view, "ON THIS MACHINE ALREADY");
      for (std::size_t i = 0; i < page.cached.size(); ++i)
        if (button(view, "cached." + std::to_string(i), page.cached[i].name, "", true))
          page.wanted = page.cached[i].folder.string();
      ImGui::EndChild();
    }
  }
  endPanel();
}

}  // namespace headscope::app

#include <initializer_list>
#include <optional>

#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

/// Draws actions as buttons that wrap at `width`. Returns the bottom y.
using Ways = std::initializer_list<std::pair<const char*, const char*>>;
float waysIn(View& view, ImVec2 at, float width, Ways ways) {
  const float start = at.x, height = view.px(28), space = view.px(10);
  for (const auto& [action, label] : ways) {
    const float wide = textWidth(view.fonts->text, label) + view.px(22);
    if (at.x > start && at.x + wide > start + width) at = ImVec2(start, at.y + height + space);
    ImGui::SetCursorScreenPos(at);
    if (button(view, std::string("empty.") + action, label)) view.request(action);
    at.x += wide + space;
  }
  return at.y + height;
}

/// Models on this machine that can be opened.
void modelsHere(View& view, Opening& opening) {
  if (opening.cached.empty()) return;
  sectionTitle(view, "ON THIS COMPUTER");
  for (std::size_t i = 0; i < opening.cached.size(); ++i)
    if (button(view, "cached." + std::to_string(i), opening.cached[i].name, "", true))
      opening.wanted = opening.cached[i].folder.string();
}

/// Recently opened models. One that no longer exists says so, and can be removed from the list.
void recentModels(View& view, Opening& opening) {
  if (opening.recent.empty()) return;
  sectionTitle(view, "RECENT");
  std::optional<std::size_t> forgotten;
  for (std::size_t i = 0; i < opening.recent.size(); ++i) {
    const Opening::Recent& one = opening.recent[i];
    const std::string name = "recent." + std::to_string(i);
    if (button(view, name, one.name, one.there ? "" : one.path + " no longer exists", true))
      opening.wanted = one.path;
    if (one.there && ImGui::IsItemHovered()) tooltip(view, one.path);
    if (one.there) continue;
    const float y = (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2;
    const float x = ImGui::GetItemRectMax().x + view.px(10);
    const float wide = paintText(*ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(x, y),
                                 view.theme->faint, "no longer exists");
    ImGui::SameLine(0, wide + view.px(18));
    if (button(view, "forget." + std::to_string(i), "×", "", true)) forgotten = i;
  }
  if (forgotten) opening.forgotten = opening.recent[*forgotten].path;
  gap(view, 14);
}

}  // namespace

void exampleSection(View& view, Opening& opening) {
  hint(view,
       "No model is open: this is the bundled one. The other pages keep their layer until you change "
       "something here.");
  gap(view, 4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float end = waysIn(
      view, at, width, {{"model.learned", "Use it on all pages"}, {"model.recorded", "Import attention…"}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, end - at.y));
  gap(view, 10);
  recentModels(view, opening);
  modelsHere(view, opening);
}

void openingPanel(Scene&, View& view, Opening& opening, const ImRect& area) {
  if (beginPanel(view, "overview", area, 0, 0, 0)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float width = std::min(area.GetWidth() - view.px(60), view.px(620));
    const float x = area.GetCenter().x - width / 2;
    float y = area.Min.y + std::max(view.px(40), area.GetHeight() * 0.22f);
    paintText(list, view.fonts->hero, ImVec2(x, y), view.theme->text,
              opening.name.empty() ? "Open a model" : "Opening " + opening.name + "…");
    y += view.px(26);
    y += paintParagraph(
        list, view.fonts->text, ImVec2(x, y), width, view.theme->secondary,
        "Choose a GGUF file or a Hugging Face model folder (config.json, model.safetensors, tokenizer.json), "
        "or drop it on the window. Weights are memory-mapped; nothing is copied or sent.");
    y = waysIn(view, ImVec2(x, y + view.px(18)), width,
               {{"model.learned", "Open the bundled model"},
                {"model.open", "Open a folder or file…"},
                {"model.recorded", "Import attention…"}});
    if (!opening.recent.empty() || !opening.cached.empty()) {
      ImGui::SetCursorScreenPos(ImVec2(x, y + view.px(24)));
      ImGui::BeginChild("cached", ImVec2(width, area.Max.y - y - view.px(44)), false,
                        ImGuiWindowFlags_NoBackground);
      recentModels(view, opening);
      modelsHere(view, opening);
      compat::endChild();
    }
  }
  endPanel();
}

}  // namespace headscope::app::model_page

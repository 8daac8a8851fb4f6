#include "app/widgets/panel.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/platform/marks.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

void fillSide(const View& view, const ImRect& area) {
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(area.Min, area.Max, view.theme->panel);
  back.AddLine(ImVec2(area.Max.x, area.Min.y), area.Max, view.theme->line);
}

void fillDrawer(const View& view, const Layout& layout, std::initializer_list<const char*> covered) {
  // A newly shown panel is put below the others, so move what the drawer covers further down.
  for (const char* name : covered)
    if (ImGuiWindow* window = layout.narrow ? ImGui::FindWindowByName(name) : nullptr)
      ImGui::BringWindowToDisplayBack(window);
  Canvas list = *ImGui::GetWindowDrawList();
  list.PushClipRect(layout.right.Min, layout.right.Max);
  list.AddRectFilled(layout.right.Min, layout.right.Max, view.theme->panel);
  list.AddLine(layout.right.Min, ImVec2(layout.right.Min.x, layout.right.Max.y), view.theme->line);
  list.PopClipRect();
}

ImRect tallArea(const ImRect& panel, float least) {
  const float top = panel.Min.y - ImGui::GetScrollY();
  const ImRect area(panel.Min.x, top, panel.Max.x, top + std::max(panel.GetHeight(), least));
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Max.y - 1));
  ImGui::Dummy(ImVec2(1, 1));
  return area;
}

void scrollEdge(const View& view, const ImRect& area) {
  if (ImGui::GetScrollMaxY() - ImGui::GetScrollY() <= view.px(6)) return;
  const std::uint32_t solid = view.theme->panel, clear = faded(solid, 0);
  const ImVec2 from(area.Min.x, area.Max.y - view.px(36));
  Canvas list = *ImGui::GetWindowDrawList();
  if (drawsMark(list, kFade, from, area.Max))
    list.AddRectFilledMultiColor(from, area.Max, clear, clear, solid, solid);
}

namespace {

/// Turns a message into a sentence. Messages start in lower case, to follow what they are about. A file name
/// at the start stays unchanged.
std::string asSentence(std::string text) {
  const std::string first = text.substr(0, text.find(' '));
  if (!text.empty() && first.find_first_of("./_") == std::string::npos)
    text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
  if (!text.empty() && std::isalnum(static_cast<unsigned char>(text.back()))) text += '.';
  return text;
}

}  // namespace

void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& message,
                  std::uint32_t color) {
  const std::string text = asSentence(message);
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 middle = area.GetCenter();
  paintText(list, view.fonts->hero, ImVec2(middle.x, middle.y - view.px(26)), color, title, Align::center);
  const float most = std::min(area.GetWidth() - view.px(40), view.px(560));
  ImFont* font = view.fonts->text;
  // Balances the line lengths, so that no single word is left on the last line.
  const float whole = textWidth(font, text) + 1, lines = std::ceil(whole / most);
  const float width = lines > 1 ? std::min(most, whole / lines + view.px(40)) : whole;
  paintParagraph(list, font, ImVec2(middle.x - width / 2, middle.y + view.px(2)), width,
                 view.theme->secondary, text);
}

void emptyMessage(View& view, const ImRect& area, const std::string& title, const std::string& text,
                  const std::string& label, const char* action) {
  const ImVec2 middle = area.GetCenter();
  const ImRect above(area.Min.x, area.Min.y, area.Max.x, area.Max.y - view.px(30));
  paintMessage(view, above, title, text, view.theme->text);
  ImGui::SetCursorScreenPos(
      ImVec2(middle.x - textWidth(view.fonts->text, label) / 2 - view.px(11), middle.y + view.px(34)));
  if (button(view, std::string("empty.") + action, label)) view.request(action);
}

std::string headName(Index head) {
  return "Head " + std::to_string(head);
}
std::string kvName(Index kvHead) {
  return "KV " + std::to_string(kvHead);
}

Index layerNumber(const Setup& setup, Index layer) {
  const auto& opened = setup.subject.opened;
  return opened && opened->recorded ? opened->recorded->layers()[static_cast<std::size_t>(layer)].number
                                    : layer;
}

std::string layerPrefix(const Setup& setup) {
  const bool several = setup.subject.opened || isStack(setup);
  return several ? fmt::format("Layer {} · ", layerNumber(setup, shownLayer(setup))) : "";
}
std::string headWords(const Setup& setup, Index head) {
  const bool several = !layerPrefix(setup).empty();
  return (several ? fmt::format("layer {} ", layerNumber(setup, shownLayer(setup))) : "") + "head " +
         std::to_string(head);
}

}  // namespace headscope::app

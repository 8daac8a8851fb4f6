#include "app/widgets/text_box.h"

#include <imgui_stdlib.h>

#include "app/platform/supplementary.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace {

void pushBoxStyle(const View& view) {
  ImGui::PushStyleColor(ImGuiCol_FrameBg, view.theme->background);
  ImGui::PushStyleColor(ImGuiCol_Border, view.theme->line);
  ImGui::PushStyleColor(ImGuiCol_Text, view.theme->text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, faded(view.theme->key, 0.35f));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(view.px(11), view.px(8)));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, view.px(7));
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  compat::pushFont(view.fonts->text);
}

void popBoxStyle() {
  ImGui::PopFont();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor(4);
}

void paintHint(const View& view, const std::string& text) {
  const ImVec2 from = ImGui::GetItemRectMin();
  ImGui::GetWindowDrawList()->AddText(view.fonts->text, compat::sizeOf(view.fonts->text),
                                      ImVec2(from.x + view.px(11), from.y + view.px(8)), view.theme->faint,
                                      text.c_str());
}

}  // namespace

bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText) {
  pushBoxStyle(view);
  std::string edited = toEditable(text);
  const float height = lineHeight(view.fonts->text) * static_cast<float>(lines) + view.px(18);
  const bool changed = ImGui::InputTextMultiline(("##" + name).c_str(), &edited, ImVec2(-FLT_MIN, height),
                                                 ImGuiInputTextFlags_NoHorizontalScroll);
  trackItem(name);
  if (text.empty() && !ImGui::IsItemActive()) paintHint(view, hintText);
  popBoxStyle();
  if (!changed) return false;
  text = fromEditable(edited);
  view.continuousEdit = name;
  return true;
}

bool lineBox(View& view, const std::string& name, std::string& text, float width, bool focus,
             const std::string& hintText) {
  pushBoxStyle(view);
  ImGui::PushItemWidth(width);
  if (focus) ImGui::SetKeyboardFocusHere();
  std::string edited = toEditable(text);
  const bool entered =
      ImGui::InputText(("##" + name).c_str(), &edited, ImGuiInputTextFlags_EnterReturnsTrue);
  trackItem(name);
  if (edited.empty()) paintHint(view, hintText);
  ImGui::PopItemWidth();
  popBoxStyle();
  text = fromEditable(edited);
  return entered;
}

}  // namespace headscope::app

// The part of Rows with controls.

#include "app/kit/rows.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

bool Rows::slider(Scene& scene, std::string_view path, const SliderState& state) {
  return fieldSlider(view_, scene, path, state);
}
bool Rows::toggle(Scene& scene, std::string_view path, const std::string& disabledReason) {
  return fieldToggle(view_, scene, path, disabledReason);
}
bool Rows::choice(Scene& scene, std::string_view path, float width,
                  const std::vector<std::string>& disabledReasons) {
  return fieldChoice(view_, scene, path, disabledReasons, width);
}

void Rows::choices(Scene& scene, std::initializer_list<std::string_view> paths) {
  const auto count = static_cast<float>(paths.size());
  const float apart = view_.px(8), each = (width() - apart * (count - 1)) / count;
  for (const std::string_view& path : paths) {
    if (&path != paths.begin()) ImGui::SameLine(0, apart);
    choice(scene, path, each);
  }
}

bool Rows::input(const std::string& name, std::string& text, bool& focus, const std::string& hint) {
  return lineBox(view_, name, text, width(), std::exchange(focus, false), hint);
}

bool Rows::list(const std::string& name, std::span<const Choice> choices, int& chosen, const char* help) {
  return dropdown(view_, name, choices, chosen, width(), help);
}

void Rows::action(const std::string& name, const std::string& label, const char* action,
                  const std::string& disabledReason) {
  if (button(view_, name, label, disabledReason)) view_.request(action);
}

bool Rows::primary(const std::string& name, const std::string& label) {
  const float wide = textWidth(view_.fonts->bold, label) + view_.px(44);
  const bool clicked = hitArea(name, ImVec2(wide, view_.px(36)));
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  const std::uint32_t ground =
      ImGui::IsItemHovered() ? mixed(theme().text, theme().line, 0.25f) : theme().text;
  list.AddRectFilled(from, to, ground, view_.px(6));
  paintText(list, view_.fonts->bold, ImRect(from, to).GetCenter(), theme().background, label, Align::center);
  return clicked;
}

void Rows::actions(const std::vector<Button>& buttons, const std::string& disabledReason) {
  for (const Button& each : buttons) {
    if (&each != &buttons.front()) goOn(each.label);
    if (button(view_, each.name, each.label, disabledReason, each.quiet)) view_.request(each.action);
  }
}

void Rows::tag(const std::string& text, std::uint32_t color, float units) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintText(*ImGui::GetWindowDrawList(), view_.fonts->monoSmall,
            ImVec2(at.x + view_.px(2), at.y + view_.px(13)), color, text);
  ImGui::Dummy(ImVec2(view_.px(units), view_.px(26)));
  ImGui::SameLine(0, 0);
}

std::optional<Index> Rows::numbers(const std::string& name, Index count,
                                   const std::function<bool(Index)>& lit) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float side = view_.px(24), step = side + view_.px(4), right = start.x + width();
  Canvas list = *ImGui::GetWindowDrawList();
  std::optional<Index> clicked;
  ImRect place(start, ImVec2(start.x + side, start.y + side));
  for (Index i = 0; i < count; ++i, place.TranslateX(step)) {
    if (place.Max.x > right) place.Translate(ImVec2(start.x - place.Min.x, step));
    if (hitArea(name + "." + std::to_string(i), place)) clicked = i;
    list.AddRectFilled(place.Min, place.Max,
                       lit(i) ? mixed(theme().panel, theme().text, 0.28f) : theme().background, view_.px(4));
    if (ImGui::IsItemHovered())
      compat::rectOutline(list, place.Min, place.Max, theme().secondary, view_.px(4), 1);
    paintText(list, view_.fonts->monoSmall, place.GetCenter(), lit(i) ? theme().text : theme().faint,
              std::to_string(i), Align::center);
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width(), place.Max.y - start.y));
  return clicked;
}

void Rows::beside(float share, const std::function<void(const ImRect&)>& picture,
                  const std::function<void()>& rows) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = width() * share, whole = width();
  picture(ImRect(at, ImVec2(at.x + side, at.y + side)));
  ImGui::SetCursorScreenPos(ImVec2(at.x + side + view_.px(14), at.y));
  ImGui::BeginGroup();
  rows();
  ImGui::EndGroup();
  const float bottom = std::max(ImGui::GetItemRectMax().y, at.y + side);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(whole, bottom - at.y + view_.px(4)));
}

bool Rows::goOn(const std::string& label) {
  ImGui::SameLine(0, view_.px(6));
  if (textWidth(view_.fonts->text, label) + view_.px(22) <= width()) return true;
  ImGui::NewLine();
  return false;
}

void Rows::column(float units) {
  ImGui::SameLine(0, 0);
  const float from = units < 0 ? ImGui::GetCursorPosX() + width() : ImGui::GetCursorStartPos().x;
  ImGui::SetCursorPosX(from + view_.px(units));
}

}  // namespace headscope::app

#include "app/kit/control_line.h"

#include "app/widgets/paint.h"

namespace headscope::app {

/// Takes space from the line. Returns its left end on the line's middle.
ImVec2 ControlLine::take(float width) {
  const float x = from_ == From::left ? line_.Min.x : line_.Max.x - width;
  if (from_ == From::left)
    line_.Min.x += width + gap_;
  else
    line_.Max.x = x - gap_;
  ImGui::SetCursorScreenPos(ImVec2(x, line_.GetCenter().y - view_.px(13)));
  return {x, line_.GetCenter().y};
}

/// Draws a control that spans its window's width.
bool ControlLine::inBox(const std::string& name, ImVec2 at, float width, const std::function<bool()>& draw) {
  ImGui::SetCursorScreenPos(ImVec2(at.x, line_.Min.y));
  ImGui::BeginChild(
      name.c_str(), ImVec2(width, std::max(line_.GetHeight(), view_.px(34))), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  const bool changed = draw();
  compat::endChild();
  return changed;
}

bool ControlLine::list(const std::string& name, std::span<const Choice> choices, int& chosen,
                       const char* help) {
  take(textWidth(view_.fonts->text, choices[static_cast<std::size_t>(chosen)].label) + view_.px(24));
  return dropdown(view_, name, choices, chosen, 0, help);
}

bool ControlLine::button(const std::string& name, const std::string& label,
                         const std::string& disabledReason) {
  take(textWidth(view_.fonts->text, label) + view_.px(22));
  return app::button(view_, name, label, disabledReason);
}

void ControlLine::words(const std::string& text) {
  const float width = textWidth(view_.fonts->text, text);
  if (width > line_.GetWidth()) return;
  paintText(*ImGui::GetWindowDrawList(), view_.fonts->text, take(width), view_.theme->secondary, text);
}

bool ControlLine::list(Scene& scene, std::string_view path, const std::vector<std::string>& disabledReasons) {
  const Field& field = fieldAt(path);
  const auto chosen = static_cast<std::size_t>(chosenIn(field, scene));
  take(textWidth(view_.fonts->text, std::get<Selection>(field.control).labels[chosen]) + view_.px(24));
  return fieldChoice(view_, scene, path, disabledReasons);
}

bool ControlLine::buttons(Scene& scene, const std::string& path, float width) {
  return inBox(path, take(view_.px(width)), view_.px(width), [&] { return fieldChoice(view_, scene, path); });
}

bool ControlLine::toggle(Scene& scene, const std::string& path, const std::string& disabledReason,
                         float rest) {
  const std::string_view label = std::get<Toggle>(fieldAt(path).control).label;
  const float width = textWidth(view_.fonts->text, label) + view_.px(56);
  if (width + view_.px(rest) > line_.GetWidth()) return false;
  return inBox(path, take(width), width, [&] { return fieldToggle(view_, scene, path, disabledReason); });
}

bool ControlLine::lastSlider(Scene& scene, const std::string& path, float most) {
  const float width = std::min(line_.GetWidth(), view_.px(most));
  if (width < view_.px(60)) return false;
  const float x = from_ == From::left ? line_.Max.x - width : line_.Min.x;
  return inBox(path, ImVec2(x, 0), width, [&] { return fieldSlider(view_, scene, path); });
}

void ControlLine::lastWords(const std::string& text) {
  ImFont* const font = view_.fonts->small;
  if (textWidth(font, text) > line_.GetWidth()) return;
  const bool left = from_ == From::left;
  paintText(*ImGui::GetWindowDrawList(), font, ImVec2(left ? line_.Max.x : line_.Min.x, line_.GetCenter().y),
            view_.theme->secondary, text, left ? Align::right : Align::left);
}

}  // namespace headscope::app

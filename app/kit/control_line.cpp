#include "app/kit/control_line.h"

#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app {

/// Takes space from one end of the line. Returns its left end on the line's middle.
ImVec2 ControlLine::take(float width, From from) {
  const float x = from == From::left ? line_.Min.x : line_.Max.x - width;
  if (from == From::left)
    line_.Min.x += width + gap_;
  else
    line_.Max.x = x - gap_;
  ImGui::SetCursorScreenPos(ImVec2(x, line_.GetCenter().y - view_.px(13)));
  return {x, line_.GetCenter().y};
}

/// Draws a control that spans its window's width.
bool ControlLine::inBox(const std::string& name, ImVec2 at, float width, const std::function<bool()>& draw) {
  bool changed = false;
  const float height = std::max(line_.GetHeight(), view_.px(34));
  controlsIn(name.c_str(), ImRect(at.x, line_.Min.y, at.x + width, line_.Min.y + height),
             [&] { changed = draw(); });
  return changed;
}

bool ControlLine::part(const std::string& name, float units, const std::function<void()>& controls,
                       bool atEnd) {
  const float width = view_.px(units);
  if (width > line_.GetWidth() + view_.px(2)) return false;
  const ImVec2 at = take(width, atEnd ? From::right : from_);
  return inBox(name, at, width, [&] { return controls(), true; });
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

void ControlLine::action(const std::string& name, const std::string& label, const char* action) {
  if (button(name, label)) view_.request(action);
}

bool ControlLine::fits(const std::string& label) const {
  return textWidth(view_.fonts->text, label) + view_.px(22) <= line_.GetWidth();
}

void ControlLine::words(const std::string& text, std::uint32_t color, ImFont* font, const std::string& name) {
  const float wide = std::min(textWidth(font, text), line_.GetWidth());
  if (text.empty() || wide <= 0) return;
  const ImVec2 at = take(wide);
  paintFitted(view_, *ImGui::GetWindowDrawList(), font, at, wide + 1, color, text);
  if (!name.empty()) track(name, ImVec2(at.x, line_.Min.y), ImVec2(at.x + wide, line_.Max.y));
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

void ControlLine::lastLegend(const FigureLegend& legend) {
  line_.Max.x -= paintLegendLine(view_, *ImGui::GetWindowDrawList(), ImVec2(line_.Max.x, line_.GetCenter().y),
                                 room(), legend);
}

void ControlLine::lastWords(const std::string& text) {
  ImFont* const font = view_.fonts->small;
  if (textWidth(font, text) > line_.GetWidth()) return;
  const bool left = from_ == From::left;
  paintText(*ImGui::GetWindowDrawList(), font, ImVec2(left ? line_.Max.x : line_.Min.x, line_.GetCenter().y),
            view_.theme->secondary, text, left ? Align::right : Align::left);
}

ControlLine toolLine(View& view, const ImRect& area) {
  return {view, ImRect(area.Min, ImVec2(area.Max.x, area.Min.y + view.px(28))), ControlLine::From::left, 8};
}

void controlsIn(const char* name, const ImRect& area, const std::function<void()>& controls) {
  ImGui::SetCursorScreenPos(area.Min);
  ImGui::BeginChild(
      name, area.GetSize(), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  controls();
  compat::endChild();
}

}  // namespace headscope::app

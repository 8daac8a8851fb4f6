#include "app/platform/track.h"
#include "app/shell/shell.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// A quiet word with its shortcut in a box, right-aligned; returns the left edge. Acts when clicked.
float barItem(View& view, const std::string& name, const std::string& label, const Action& action,
              float right, float y, bool enabled = true) {
  ImFont* font = view.fonts->text;
  const std::string shortcut = shortcutText(action.shortcut);
  const float keyWidth = shortcut.empty() ? 0 : textWidth(view.fonts->monoSmall, shortcut) + view.px(10);
  const float width = textWidth(font, label) + (keyWidth > 0 ? keyWidth + view.px(7) : 0);
  const float left = right - width, half = view.px(15);
  ImGui::SetCursorScreenPos(ImVec2(left - view.px(6), y - half));
  const bool clicked = ImGui::InvisibleButton(name.c_str(), ImVec2(width + view.px(12), 2 * half));
  trackItem(name);
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool lit = enabled && ImGui::IsItemHovered();
  const std::uint32_t color = !enabled ? theme.faint : lit ? theme.text : theme.secondary;
  paintText(list, font, ImVec2(left, y), color, label);
  if (keyWidth > 0) {
    const ImVec2 from(right - keyWidth, y - view.px(10)), to(right, y + view.px(10));
    compat::rectOutline(list, from, to, theme.line, view.px(4), 1);
    paintText(list, view.fonts->monoSmall, ImVec2((from.x + to.x) / 2, y), theme.faint, shortcut,
              Align::center);
  }
  if (clicked && enabled) view.request(action.id);
  return left - view.px(24);
}

/// The pages, the one that is shown underlined; returns the right end.
float pages(View& view, std::span<const LabRow> labs, std::size_t shown, float x, const ImRect& bar) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = bar.GetCenter().y;
  for (std::size_t i = 0; i < labs.size(); ++i) {
    const std::string label(labs[i].info.name), name = "page." + std::string(labs[i].info.key);
    ImFont* font = i == shown ? view.fonts->bold : view.fonts->text;
    const float width = textWidth(view.fonts->bold, label), pad = view.px(10);
    ImGui::SetCursorScreenPos(ImVec2(x - pad, bar.Min.y));
    const bool clicked = ImGui::InvisibleButton(name.c_str(), ImVec2(width + 2 * pad, bar.GetHeight()));
    trackItem(name);
    const bool lit = i == shown || ImGui::IsItemHovered();
    paintText(list, font, ImVec2(x + width / 2, y), lit ? view.theme->text : view.theme->secondary, label,
              Align::center);
    if (i == shown)
      list.AddRectFilled(ImVec2(x, bar.Max.y - view.px(2)), ImVec2(x + width, bar.Max.y), view.theme->text);
    if (clicked && i != shown) view.request(name);
    x += width + view.px(22);
  }
  return x + view.px(8);
}

}  // namespace

void topBar(View& view, const Layout& layout, const WindowState& window, const ActionTable& actions,
            std::span<const LabRow> labs, std::size_t shown) {
  const Theme& theme = *view.theme;
  ImDrawList& back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.top.Min, layout.top.Max, theme.panel);
  back.AddLine(ImVec2(0, layout.top.Max.y), layout.top.Max, theme.line);
  if (beginPanel(view, "top", layout.top, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float y = layout.top.GetCenter().y;
    float x = view.px(26);
    for (std::uint32_t color : {theme.query, theme.key, theme.value}) {
      list.AddCircleFilled(ImVec2(x, y), view.px(5.5f), color, 24);
      x += view.px(14);
    }
    x += view.px(2);
    x += paintText(list, view.fonts->title, ImVec2(x, y), theme.text, "Headscope") + view.px(30);
    x = pages(view, labs, shown, x, layout.top);
    const std::string name = window.sceneName + (window.dirty ? "  ·  edited" : "");
    float right = layout.top.Max.x - view.px(22);
    const bool wide = layout.top.GetWidth() > view.px(1180);
    const auto item = [&](const char* name, const std::string& label, const char* action,
                          bool enabled = true) {
      right = barItem(view, name, label, actions.find(action), right, y, enabled);
    };
    item("bar.palette", "Actions", "palette");
    if (const std::string_view side = labs[shown].info.side; layout.narrow && !side.empty())
      item("bar.receipt", view.drawer ? "Hide side" : std::string(side), "look.side");
    item("bar.present", view.present ? "Leave" : "Present", "look.present");
    if (wide) item("bar.theme", theme.light ? "Dark" : "Light", "appearance.theme");
    item("bar.redo", "Redo", "edit.redo", window.canRedo);
    item("bar.undo", "Undo", "edit.undo", window.canUndo);
    if (wide) item("bar.save", "Save", "scene.save");
    if (layout.top.GetWidth() > view.px(1480)) item("bar.reset", "Reset", "scene.reset");
    if (wide) item("bar.open", "Open", "scene.open");
    paintFitted(view, list, view.fonts->text, ImVec2(x, y), right - x, theme.secondary, name);
  }
  endPanel();
}

}  // namespace headscope::app

#include "app/shell/panels.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/track.h"

namespace headscope::app {

namespace {

/// A quiet word with its shortcut in a box, right-aligned; returns the left edge. Acts when clicked.
float barItem(View& view, const std::string& name, const std::string& label, Action action, float right,
              float y, bool enabled = true) {
  ImFont* font = view.fonts->text;
  const std::string shortcut = shortcutText(infoOf(action).shortcut);
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
  if (clicked && enabled) view.request(action);
  return left - view.px(24);
}

/// The places of the window, the one that is shown underlined; returns the right end.
float pages(const Scene& scene, View& view, float x, const ImRect& bar) {
  struct Tab {
    Page page;
    const char *name, *label;
    Action action;
  };
  static constexpr Tab kTabs[] = {{Page::heads, "page.heads", "Heads", Action::showHeads},
                                  {Page::mask, "page.mask", "Mask", Action::showMask},
                                  {Page::map, "page.map", "Map", Action::showMap}};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = bar.GetCenter().y;
  for (const Tab& tab : kTabs) {
    const bool shown = scene.cursor.page == tab.page;
    ImFont* font = shown ? view.fonts->bold : view.fonts->text;
    const float width = textWidth(view.fonts->bold, tab.label), pad = view.px(10);
    ImGui::SetCursorScreenPos(ImVec2(x - pad, bar.Min.y));
    const bool clicked = ImGui::InvisibleButton(tab.name, ImVec2(width + 2 * pad, bar.GetHeight()));
    trackItem(tab.name);
    const bool lit = shown || ImGui::IsItemHovered();
    paintText(list, font, ImVec2(x + width / 2, y), lit ? view.theme->text : view.theme->secondary, tab.label,
              Align::center);
    if (shown)
      list.AddRectFilled(ImVec2(x, bar.Max.y - view.px(2)), ImVec2(x + width, bar.Max.y), view.theme->text);
    if (clicked && !shown) view.request(tab.action);
    x += width + view.px(22);
  }
  return x + view.px(8);
}

}  // namespace

void topBar(Scene& scene, const Snapshot*, View& view, const Layout& layout) {
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
    x = pages(scene, view, x, layout.top);
    const std::string name = view.sceneName + (view.dirty ? "  ·  edited" : "");
    float right = layout.top.Max.x - view.px(22);
    const bool wide = layout.top.GetWidth() > view.px(1180);
    right = barItem(view, "bar.palette", "Actions", Action::palette, right, y);
    if (layout.narrow && scene.cursor.page != Page::map)
      right = barItem(view, "bar.receipt",
                      view.drawer                       ? "Hide side"
                      : scene.cursor.page == Page::mask ? "What it says"
                                                        : "Receipt",
                      Action::toggleReceipt, right, y);
    right = barItem(view, "bar.present", view.present ? "Leave" : "Present", Action::present, right, y);
    if (wide)
      right = barItem(view, "bar.theme", theme.light ? "Dark" : "Light", Action::toggleTheme, right, y);
    right = barItem(view, "bar.redo", "Redo", Action::redo, right, y, view.canRedo);
    right = barItem(view, "bar.undo", "Undo", Action::undo, right, y, view.canUndo);
    if (wide) right = barItem(view, "bar.save", "Save", Action::saveScene, right, y);
    if (layout.top.GetWidth() > view.px(1480))
      right = barItem(view, "bar.reset", "Reset", Action::resetScene, right, y);
    if (wide) right = barItem(view, "bar.open", "Open", Action::openScene, right, y);
    paintFitted(view, list, view.fonts->text, ImVec2(x, y), right - x, theme.secondary, name);
  }
  endPanel();
}

}  // namespace headscope::app

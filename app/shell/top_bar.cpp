#include <algorithm>

#include "app/platform/track.h"
#include "app/shell/bars.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Draws a quiet label with its shortcut in a box, right-aligned; a click requests the action. Returns the x
/// for the next item to the left.
float barItem(View& view, const std::string& name, const std::string& label, const Action& action,
              float right, float y, bool enabled = true) {
  ImFont* font = view.fonts->text;
  const std::string shortcut = shortcutText(action.shortcut);
  const float keyWidth = shortcut.empty() ? 0 : textWidth(view.fonts->monoSmall, shortcut) + view.px(10);
  const float width = textWidth(font, label) + (keyWidth > 0 ? keyWidth + view.px(7) : 0);
  const float left = right - width, half = view.px(15);
  const bool clicked =
      hitArea(name, ImVec2(left - view.px(6), y - half), ImVec2(width + view.px(12), 2 * half));
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
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

/// The pages with a tab, and those in the menu.
struct Tabs {
  std::vector<std::size_t> shown, inMenu;  ///< row indices
  float gap = 0;                           ///< between tabs
};

/// Plans as many tabs as fit, including the current page. Narrows the gaps before it drops tabs.
Tabs planTabs(const View& view, std::span<const PageRow> rows, std::size_t current, float room) {
  const auto widthOf = [&](std::size_t row) {
    return textWidth(view.fonts->bold, std::string(rows[row].info.name));
  };
  const float least = view.px(12);
  Tabs tabs;
  float used = widthOf(current) + least;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float more = i == current ? 0 : widthOf(i) + least;
    const bool fits = used + more <= room && tabs.inMenu.empty();
    (fits || i == current ? tabs.shown : tabs.inMenu).push_back(i);
    if (fits) used += more;
  }
  tabs.gap = std::min(view.px(22), least + (room - used) / static_cast<float>(tabs.shown.size()));
  tabs.gap = std::max(tabs.gap, least);
  return tabs;
}

/// Draws the tabs, the current one underlined. Returns the right end.
float pages(View& view, std::span<const PageRow> rows, const Tabs& tabs, std::size_t shown, float x,
            const ImRect& bar) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = bar.GetCenter().y;
  for (const std::size_t i : tabs.shown) {
    const std::string label(rows[i].info.name), name = "page." + std::string(rows[i].info.key);
    ImFont* font = i == shown ? view.fonts->bold : view.fonts->text;
    const float width = textWidth(view.fonts->bold, label), pad = std::min(view.px(10), tabs.gap / 2);
    const bool clicked = hitArea(name, ImVec2(x - pad, bar.Min.y), ImVec2(width + 2 * pad, bar.GetHeight()));
    const bool lit = i == shown || ImGui::IsItemHovered();
    paintText(list, font, ImVec2(x + width / 2, y), lit ? view.theme->text : view.theme->secondary, label,
              Align::center);
    if (i == shown)
      list.AddRectFilled(ImVec2(x, bar.Max.y - view.px(2)), ImVec2(x + width, bar.Max.y), view.theme->text);
    if (clicked && i != shown) view.request(name);
    x += width + tabs.gap;
  }
  return x + view.px(8);
}

struct BarItem {
  std::string name, label;
  const Action* action;
  bool enabled = true;
};

/// Returns the bar's items, most important first; the last go to the menu if there is too little space.
std::vector<BarItem> barItems(const View& view, const Layout& layout, const WindowState& window,
                              const ActionTable& actions, std::string_view side) {
  std::vector<BarItem> items;
  const auto add = [&](const char* name, std::string label, const char* action, bool enabled = true) {
    items.push_back({name, std::move(label), &actions.find(action), enabled});
  };
  add("bar.palette", "Actions", "palette");
  if (layout.narrow && !side.empty())
    add("bar.receipt", view.drawer ? "Hide panels" : std::string(side), "look.side");
  add("bar.present", "Present", "look.present");
  add("bar.undo", "Undo", "edit.undo", window.canUndo);
  add("bar.redo", "Redo", "edit.redo", window.canRedo);
  add("bar.save", "Save", "scene.save");
  add("bar.open", "Open", "scene.open");
  add("bar.link", "Copy link", "link.copy");
  add("bar.theme", view.theme->light ? "Dark" : "Light", "appearance.theme");
  add("bar.reset", "Reset", "scene.reset");
  return items;
}

/// Draws a menu button, right-aligned at `right`, for items that don't fit into the bar. Returns the x for
/// the next item to the left.
float menuButton(View& view, std::vector<std::string> actions, float right, const ImRect& bar) {
  const float width = view.px(38), left = right - width, y = bar.GetCenter().y;
  const bool clicked = hitArea("bar.menu", ImVec2(left, y - view.px(15)), ImVec2(width, view.px(30)));
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = ImGui::IsItemHovered() ? view.theme->text : view.theme->secondary;
  for (const float step : {-5.0f, 0.0f, 5.0f})
    list.AddRectFilled(ImVec2(left + view.px(10), y + view.px(step - 1)),
                       ImVec2(right - view.px(10), y + view.px(step + 1)), color);
  if (clicked) view.menu = std::move(actions);
  return left - view.px(16);
}

/// Orders items from the right by importance, but with Undo to the left of Redo.
void orderItems(std::span<BarItem> shown) {
  const auto undo = std::ranges::find(shown, "bar.undo", &BarItem::name);
  if (shown.end() - undo > 1) std::iter_swap(undo, undo + 1);
}

float itemWidth(const View& view, const BarItem& item) {
  const std::string shortcut = shortcutText(item.action->shortcut);
  const float key = shortcut.empty() ? 0 : textWidth(view.fonts->monoSmall, shortcut) + view.px(17);
  return textWidth(view.fonts->text, item.label) + key + view.px(24);
}

/// Shows the scene's file name, smaller and set apart, so that it isn't mistaken for a tab.
void paintSceneName(const View& view, Canvas list, const WindowState& window, float x, float y, float right) {
  const std::string name = window.sceneName.empty() ? (window.dirty ? "Scene not saved" : "")
                                                    : window.sceneName + (window.dirty ? "  ·  edited" : "");
  if (name.empty() || right - x < view.px(90)) return;
  list.AddLine(ImVec2(x, y - view.px(9)), ImVec2(x, y + view.px(9)), view.theme->line);
  paintFitted(view, list, view.fonts->small, ImVec2(x + view.px(14), y), right - x - view.px(14),
              view.theme->faint, name);
}

}  // namespace

void topBar(View& view, const Layout& layout, const WindowState& window, const ActionTable& actions,
            std::span<const PageRow> rows, std::size_t shown) {
  const Theme& theme = *view.theme;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.top.Min, layout.top.Max, theme.panel);
  back.AddLine(ImVec2(0, layout.top.Max.y), layout.top.Max, theme.line);
  if (beginPanel(view, "top", layout.top, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = layout.top.GetCenter().y;
    float x = view.px(26);
    for (std::uint32_t color : {theme.query, theme.key, theme.value}) {
      list.AddCircleFilled(ImVec2(x, y), view.px(5.5f), color, 24);
      x += view.px(14);
    }
    x += view.px(2);
    if (layout.top.GetWidth() > view.px(760))
      x += paintText(list, view.fonts->title, ImVec2(x, y), theme.text, "Headscope") + view.px(30);
    x += view.px(6);
    // Tabs come first; items that don't fit next to them go to the menu.
    const float menu = view.px(54);
    const Tabs tabs = planTabs(view, rows, shown, layout.top.Max.x - view.px(22) - menu - x);
    x = pages(view, rows, tabs, shown, x, layout.top);
    std::vector<BarItem> items = barItems(view, layout, window, actions, rows[shown].info.side);
    const float room = layout.top.Max.x - view.px(22) - x;
    float used = 0;
    for (const BarItem& item : items) used += itemWidth(view, item);
    std::size_t fits = items.size();
    const float menuRoom = used > room || !tabs.inMenu.empty() ? menu : 0;
    while (fits > 0 && used > room - menuRoom) used -= itemWidth(view, items[--fits]);
    float right = layout.top.Max.x - view.px(22);
    std::vector<std::string> hidden;
    for (const std::size_t row : tabs.inMenu) hidden.push_back("page." + std::string(rows[row].info.key));
    for (const BarItem& item : std::span(items).subspan(fits))
      if (item.enabled) hidden.push_back(item.action->id);
    if (!hidden.empty()) right = menuButton(view, std::move(hidden), right, layout.top);
    orderItems(std::span(items).first(fits));
    for (const BarItem& item : std::span(items).first(fits))
      right = barItem(view, item.name, item.label, *item.action, right, y, item.enabled);
    paintSceneName(view, list, window, x, y, right);
  }
  endPanel();
}

}  // namespace headscope::app

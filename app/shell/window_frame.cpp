#include "app/shell/window_frame.h"

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// A label in the bar that requests an action.
struct BarItem {
  std::string name, label;
  const Action* action;
  bool enabled = true;
  bool hasKey = true;  ///< shows the action's shortcut
  std::string shortcut() const { return hasKey ? shortcutText(action->shortcut) : ""; }
};

/// Draws a quiet label with its shortcut in a box, right-aligned; a click requests the action. Returns the x
/// for the next item to the left.
float barItem(View& view, const BarItem& item, float right, float y) {
  ImFont* font = view.fonts->text;
  const std::string shortcut = item.shortcut();
  const float keyWidth = shortcut.empty() ? 0 : textWidth(view.fonts->monoSmall, shortcut) + view.px(10);
  const float width = textWidth(font, item.label) + (keyWidth > 0 ? keyWidth + view.px(7) : 0);
  const float left = right - width, half = view.px(15);
  const bool clicked =
      hitArea(item.name, ImVec2(left - view.px(6), y - half), ImVec2(width + view.px(12), 2 * half));
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered(), lit = item.enabled && hovered;
  const std::uint32_t color = !item.enabled ? theme.faint : lit ? theme.text : theme.secondary;
  paintText(list, font, ImVec2(left, y), color, item.label);
  if (keyWidth > 0) {
    const ImVec2 from(right - keyWidth, y - view.px(10)), to(right, y + view.px(10));
    compat::rectOutline(list, from, to, theme.line, view.px(4), 1);
    paintText(list, view.fonts->monoSmall, ImVec2((from.x + to.x) / 2, y), theme.faint, shortcut,
              Align::center);
  }
  if (hovered && !item.hasKey) tooltip(view, item.action->name);
  if (clicked && item.enabled) view.request(item.action->id);
  return left - view.px(24);
}

/// The pages with a tab, and those in the menu.
struct Tabs {
  std::vector<std::size_t> shown, inMenu;  ///< row indices
  float gap = 0;                           ///< between tabs
};

/// Plans as many tabs as fit, including the current page. Narrows the gaps before it drops tabs.
Tabs planTabs(const View& view, std::span<const PageRow> rows, std::span<const std::size_t> offered,
              std::size_t current, float room) {
  const auto widthOf = [&](std::size_t row) {
    return textWidth(view.fonts->bold, std::string(rows[row].info.name));
  };
  const float least = view.px(12);
  Tabs tabs;
  float used = widthOf(current) + least;
  for (const std::size_t i : offered) {
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

/// Returns the bar's items, most important first; the last are left out if there is too little space.
std::vector<BarItem> barItems(const View& view, const Layout& layout, const WindowState& window,
                              const ActionTable& actions, std::string_view side) {
  std::vector<BarItem> items;
  const auto add = [&](const char* name, std::string label, const char* action, bool enabled = true) {
    items.push_back({name, std::move(label), &actions.find(action), enabled});
  };
  add("bar.palette", "Search", "palette");
  if (layout.narrow && !side.empty())
    add("bar.receipt", view.drawer ? "Hide panels" : std::string(side), "look.side");
  add("bar.present", "Present", "look.present");
  if (actions.has("talk.add")) {
    add("bar.talk", "+ Talk", "talk.add");
    items.back().hasKey = false;
  }
  add("bar.undo", "Undo", "edit.undo", window.canUndo);
  add("bar.redo", "Redo", "edit.redo", window.canRedo);
  add("bar.save", "Save", "scene.save");
  add("bar.open", "Open", "scene.open");
  add("bar.link", "Copy link", "link.copy");
  add("bar.theme", view.theme->light ? "Dark" : "Light", "appearance.theme");
  add("bar.reset", "Reset", "scene.reset");
  return items;
}

/// Draws a menu button, right-aligned at `right`. Returns whether it was clicked.
bool menuButton(const View& view, float right, const ImRect& bar) {
  const float width = view.px(38), left = right - width, y = bar.GetCenter().y;
  const bool clicked = hitArea("bar.menu", ImVec2(left, y - view.px(15)), ImVec2(width, view.px(30)));
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = ImGui::IsItemHovered() ? view.theme->text : view.theme->secondary;
  for (const float step : {-5.0f, 0.0f, 5.0f})
    list.AddRectFilled(ImVec2(left + view.px(10), y + view.px(step - 1)),
                       ImVec2(right - view.px(10), y + view.px(step + 1)), color);
  return clicked;
}

/// Orders items from the right by importance, but with Undo to the left of Redo.
void orderItems(std::span<BarItem> shown) {
  const auto undo = std::ranges::find(shown, "bar.undo", &BarItem::name);
  if (shown.end() - undo > 1) std::iter_swap(undo, undo + 1);
}

float itemWidth(const View& view, const BarItem& item) {
  const std::string shortcut = item.shortcut();
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
            std::span<const PageRow> rows, std::span<const std::size_t> offered, std::size_t shown) {
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
    // Tabs come first; items that don't fit next to them are only in the menu.
    const float menu = view.px(54);
    const Tabs tabs = planTabs(view, rows, offered, shown, layout.top.Max.x - view.px(22) - menu - x);
    x = pages(view, rows, tabs, shown, x, layout.top);
    std::vector<BarItem> items = barItems(view, layout, window, actions, rows[shown].info.side);
    const float room = layout.top.Max.x - view.px(22) - x;
    float used = 0;
    for (const BarItem& item : items) used += itemWidth(view, item);
    std::size_t fits = items.size();
    while (fits > 0 && used > room - menu) used -= itemWidth(view, items[--fits]);
    float right = layout.top.Max.x - view.px(22);
    view.folded.clear();
    for (const std::size_t row : tabs.inMenu)
      view.folded.push_back("page." + std::string(rows[row].info.key));
    if (menuButton(view, right, layout.top)) view.request("menu");
    right -= menu;
    orderItems(std::span(items).first(fits));
    for (const BarItem& item : std::span(items).first(fits)) right = barItem(view, item, right, y);
    paintSceneName(view, list, window, x, y, right);
  }
  endPanel();
}

namespace {

/// Paints the figures of the page and the window from `x` on, as many as fit. Returns their end.
float diagnostics(const View& view, const WindowState& window, const PageStatus& page, Canvas list, float x,
                  float y, float end) {
  std::vector<Figure> all = page.figures;
  all.push_back({"textures", bytesText(static_cast<double>(window.gpuBytes)), 330});
  if (window.drawSeconds > 0) all.push_back({"frame", timeText(window.drawSeconds), 240});
  all.push_back({"undo", std::to_string(window.undoSteps), 160});
  for (const Figure& figure : all) {
    if (end - x <= view.px(figure.room)) continue;
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->secondary, figure.label) + view.px(5);
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->text, figure.value) + view.px(22);
  }
  return x;
}

/// Shows any running computation, what isn't seen in the picture, and what the mouse does (or the
/// diagnostics), between `x` and `end`.
void activity(View& view, const WindowState& window, const PageStatus& page, Canvas list, float x, float y,
              float end) {
  const float half = view.px(8);
  const auto text = [&](const std::string& name, const std::string& words, std::uint32_t color) {
    const float wide = std::min(textWidth(view.fonts->small, words), end - x);
    if (wide < view.px(40)) return;
    paintFitted(view, list, view.fonts->small, ImVec2(x, y), wide + 1, color, words);
    track(name, ImVec2(x, y - half), ImVec2(x + wide, y + half));
    x += wide + view.px(22);
  };
  for (const std::string& fact : page.facts) text("status.fact", fact, view.theme->text);
  if (view.preferences.diagnostics)
    x = diagnostics(view, window, page, list, x, y, end - (page.busySeconds > 0.5 ? view.px(240) : 0));
  else if (page.busySeconds <= 0.5)
    text("status.hint", page.hint, view.theme->secondary);
  if (page.busySeconds <= 0.5) return;
  const float from = x;
  x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->warning, page.busyWords);
  track(page.busyName, ImVec2(from, y - view.px(8)), ImVec2(x, y + view.px(8)));
  if (!page.canStop) return;
  ImGui::SetCursorScreenPos(ImVec2(x + view.px(10), y - view.px(14)));
  if (button(view, "stop", "Stop", page.hasPicture ? "" : "There is no earlier result to go back to", true))
    view.request("edit.stop");
}

/// Shows the last error, otherwise the last notice, otherwise a problem with the visible numbers, between `x`
/// and `end`. Returns whether there was any.
bool messageLine(const View& view, Canvas list, float x, float y, float end, const std::string& notFinite) {
  const Messages& messages = view.messages;
  const float half = view.px(8);
  if (const bool fails = !messages.error.empty(); fails || (messages.notice.empty() && !notFinite.empty())) {
    list.AddRectFilled(ImVec2(x, y - half), ImVec2(x + view.px(3), y + half), view.theme->error);
    paintFitted(view, list, view.fonts->small, ImVec2(x + view.px(10), y), end - x - view.px(40),
                view.theme->error, fails ? messages.error : notFinite);
    track(fails ? "error" : "not_finite", ImVec2(x, y - half), ImVec2(end, y + half));
    return true;
  }
  if (messages.notice.empty()) return false;
  paintFitted(view, list, view.fonts->small, ImVec2(x, y), end - x, view.theme->text, messages.notice);
  track("notice", ImVec2(x, y - half), ImVec2(end, y + half));
  return true;
}

}  // namespace

void statusLine(View& view, const Layout& layout, const WindowState& window, const PageStatus& page) {
  const Theme& theme = *view.theme;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(layout.status.Min, layout.status.Max, theme.panel);
  back.AddLine(layout.status.Min, ImVec2(layout.status.Max.x, layout.status.Min.y), theme.line);
  if (beginPanel(view, "status", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = layout.status.GetCenter().y;
    const float right = layout.status.Max.x - view.px(20);
    paintText(list, view.fonts->small, ImVec2(right, y), theme.secondary, page.shape, Align::right);
    const float end = right - textWidth(view.fonts->small, page.shape) - view.px(24);
    const float x = view.px(20);
    if (!messageLine(view, list, x, y, end, page.notFinite)) activity(view, window, page, list, x, y, end);
  }
  endPanel();
}

void paintPointerMessage(View& view) {
  const PointerMessage& told = view.told;
  if (told.text.empty()) return;
  if (view.time - told.since > kPointerMessageSeconds) {
    view.told.text.clear();
    return;
  }
  ImFont* font = view.fonts->small;
  const ImVec2 pad(view.px(10), view.px(7)), screen = ImGui::GetIO().DisplaySize;
  const std::string text = fitted(font, told.text, screen.x - 4 * pad.x);
  const ImVec2 size(textWidth(font, text) + 2 * pad.x, lineHeight(font) + 2 * pad.y);
  // Above the pointer, since tooltips are below it.
  const float edge = view.px(4), above = told.at.y - view.px(14) - size.y;
  ImVec2 at(told.at.x - size.x / 2, above < edge ? told.at.y + view.px(22) : above);
  at.x = std::clamp(at.x, edge, std::max(edge, screen.x - size.x - edge));
  at.y = std::clamp(at.y, edge, std::max(edge, screen.y - size.y - edge));
  const ImVec2 to(at.x + size.x, at.y + size.y);
  Canvas list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(at, to, view.theme->text, view.px(6));
  paintText(list, font, ImVec2(at.x + pad.x, (at.y + to.y) / 2), view.theme->background, text);
  track("told", at, to);
}

namespace {

/// Leaves out whole clauses at a caption's end until the rest fits.
void shorten(const View& view, std::vector<CaptionPart>& caption, float room) {
  const auto endsClause = [](const std::string& text, std::size_t at) {
    return std::string_view(",;:.").find(text[at]) != std::string_view::npos &&
           (at + 1 == text.size() || text[at + 1] == ' ');
  };
  float before = 0;
  for (const CaptionPart& part : caption) before += part.atEnd ? 0 : textWidth(view.fonts->text, part.text);
  if (before <= room) return;
  for (std::size_t i = caption.size(); i-- > 0;) {
    std::string& text = caption[i].text;
    if (caption[i].atEnd) continue;
    before -= textWidth(view.fonts->text, text);
    for (std::size_t at = text.size(); before < room && at-- > 0;) {
      if (!endsClause(text, at) ||
          before + textWidth(view.fonts->text, std::string_view(text).substr(0, at)) > room)
        continue;
      text.resize(at);
      const auto after = caption.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      caption.erase(std::remove_if(after, caption.end(), [](const CaptionPart& each) { return !each.atEnd; }),
                    caption.end());
      return;
    }
  }
}

}  // namespace

void captionLine(View& view, const Layout& layout, const std::string& headline,
                 std::vector<CaptionPart> caption, const FigureLegend& legend, const std::string& notFinite) {
  if (beginPanel(view, "status", layout.status, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float y = layout.status.GetCenter().y;
    float x = layout.status.Min.x + view.px(14), end = layout.status.Max.x - view.px(14);
    if (!messageLine(view, list, x, y, end, notFinite)) {
      const float from = x, head = headline.empty() ? 0 : textWidth(view.fonts->bold, headline) + view.px(20);
      const auto words = [&] {
        float wide = view.px(24) + head;
        for (const CaptionPart& part : caption) wide += textWidth(view.fonts->text, part.text);
        return wide;
      };
      if (head > 0 && words() + view.px(200) > end - x)
        std::erase_if(caption, [](const CaptionPart& part) { return !part.atEnd; });
      // The sentence comes first, but the colour bar stays: alone where the sentence has to be shorter.
      const float room = end - x - words(), least = view.px(280);
      const FigureLegend bar{legend.caption, legend.colormap, legend.labels};
      end -= paintLegendLine(view, list, ImVec2(end, y), std::max(room, least),
                             room < least && !legend.caption.empty() ? bar : legend);
      for (const CaptionPart& part : caption)
        if (part.atEnd) {
          const float wide =
              paintText(list, view.fonts->text, ImVec2(end, y), part.color, part.text, Align::right);
          end -= wide + view.px(12);
        }
      if (head > 0) {
        paintFitted(view, list, view.fonts->bold, ImVec2(x, y), end - x, view.theme->text, headline);
        x += head;
      }
      shorten(view, caption, end - x);
      for (const CaptionPart& part : caption)
        if (!part.atEnd && end - x > view.px(12))
          x += paintText(list, view.fonts->text, ImVec2(x, y), part.color,
                         fitted(view.fonts->text, part.text, end - x));
      track("caption", ImVec2(from, y - view.px(9)), ImVec2(x, y + view.px(9)));
    }
  }
  endPanel();
}

/// Draws a dark and a light line, so that the ring is visible on everything.
void focusRing(View& view) {
  KeyboardFocus& focus = uiState().focus;
  if (focus.follow()) view.redraw();
  const TabStop* const control = focus.drawn();
  if (!control || ImGui::GetIO().WantTextInput) return;
  ImRect area = control->seen;
  if (area.GetWidth() <= 0 || area.GetHeight() <= 0) return;
  // Keeps the ring of a control at the window's edge inside the window.
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float edge = view.px(2);
  area.Expand(view.px(2));
  area.Min = ImVec2(std::max(area.Min.x, edge), std::max(area.Min.y, edge));
  area.Max = ImVec2(std::min(area.Max.x, screen.x - edge), std::min(area.Max.y, screen.y - edge));
  Canvas list = *ImGui::GetForegroundDrawList();
  if (!drawsMark(list, "focus.ring", area.Min, area.Max)) return;
  compat::rectOutline(list, area.Min, area.Max, view.theme->background, view.px(6),
                      std::max(3.0f, view.px(4.5f)));
  compat::rectOutline(list, area.Min, area.Max, view.theme->text, view.px(6), std::max(1.0f, view.px(2)));
}

}  // namespace headscope::app

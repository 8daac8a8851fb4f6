#include "app/widgets/controls.h"

#include "app/platform/track.h"
#include "app/scene/text/manual.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

float contentWidth() {
  return ImGui::GetContentRegionAvail().x;
}

/// An invisible button of the given size at the cursor, tracked by name.
struct Hit {
  ImVec2 from, to;
  bool clicked = false, hovered = false, held = false;
  ImVec2 middle() const { return ImVec2((from.x + to.x) / 2, (from.y + to.y) / 2); }
};

Hit hitOf(const std::string& name, ImVec2 size) {
  Hit hit;
  hit.from = ImGui::GetCursorScreenPos();
  hit.clicked = hitArea(name, size);
  hit.to = ImGui::GetItemRectMax();
  hit.hovered = ImGui::IsItemHovered();
  hit.held = ImGui::IsItemActive();
  return hit;
}

}  // namespace

void gap(const View& view, float units) {
  ImGui::Dummy(ImVec2(1, view.px(units)));
}

void sectionTitle(const View& view, const std::string& title, const std::string& aside) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view.px(22), width = contentWidth(), space = view.px(1.2f);
  const float room = width - space * static_cast<float>(title.size());
  // The aside leaves if there is no room for both.
  const bool both =
      textWidth(view.fonts->smallBold, title) + view.px(8) + textWidth(view.fonts->small, aside) <= room;
  Canvas list = *ImGui::GetWindowDrawList();
  paintSpaced(list, view.fonts->smallBold, ImVec2(at.x, at.y + height / 2), view.theme->faint,
              fitted(view.fonts->smallBold, title, room), space);
  if (both)
    paintText(list, view.fonts->small, ImVec2(at.x + width, at.y + height / 2), view.theme->faint, aside,
              Align::right);
  ImGui::Dummy(ImVec2(width, height));
}

namespace {
void sentence(const View& view, const std::string& text, std::uint32_t color, bool marked) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  const float indent = marked ? view.px(10) : 0;
  const float height = paintParagraph(list, view.fonts->small, ImVec2(at.x + indent, at.y + view.px(2)),
                                      contentWidth() - indent, color, text);
  if (marked)
    list.AddRectFilled(at, ImVec2(at.x + view.px(3), at.y + height + view.px(4)), color, view.px(1.5f));
  ImGui::Dummy(ImVec2(contentWidth(), height + view.px(6)));
}
}  // namespace

void hint(const View& view, const std::string& text) {
  sentence(view, text, view.theme->secondary, false);
}
void problem(const View& view, const std::string& text) {
  sentence(view, text, view.theme->error, true);
}

bool wheelTurns(View& view, const std::string& name) {
  std::string& taker = view.controls.wheelTaker;
  if (ImGui::IsItemActivated()) taker = name;
  if (!ImGui::IsItemHovered() && !ImGui::IsItemActive()) {
    if (taker == name) taker.clear();
    return false;
  }
  const bool turns = taker == name || ImGui::GetIO().KeyCtrl;
  if (turns) compat::claimWheel();
  return turns;
}

void hoverHelp(View& view, const std::string& name, const char* help, std::string_view term) {
  RestingPointer& pointer = view.controls.resting;
  const int frame = ImGui::GetFrameCount();
  if (pointer.control != name || pointer.frame < frame - 1) pointer = {name, view.time};
  pointer.frame = frame;
  // A user who clicks the control wants to see its effect, so hide the help until the pointer returns.
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) pointer.since = std::numeric_limits<double>::infinity();
  const Term* known = view.glossary && !term.empty() ? view.glossary->find(term) : nullptr;
  if ((!*help && !known) || view.time - pointer.since < kHelpDelay) return;
  std::string text = help;
  if (known) text += (text.empty() ? "" : "\n\n") + known->explained();
  tooltip(view, text);
  trackItem("help." + name);
}

namespace {
/// The widths of segments that together are `width`: equal, unless that cuts a label.
std::vector<float> segmentWidths(const View& view, std::span<const Choice> choices, float width) {
  std::vector<float> widths;
  float words = 0, longest = 0;
  for (const Choice& choice : choices) {
    widths.push_back(textWidth(view.fonts->bold, choice.label));
    words += widths.back();
    longest = std::max(longest, widths.back());
  }
  const auto count = static_cast<float>(choices.size());
  const bool same = longest + view.px(10) <= width / count;
  for (float& each : widths) each = same ? width / count : each + (width - words) / count;
  return widths;
}
}  // namespace

bool segmented(View& view, const std::string& name, std::span<const Choice> choices, int& chosen,
               const char* help) {
  const float width = contentWidth(), height = view.px(30), inset = view.px(3);
  const std::vector<float> widths = segmentWidths(view, choices, width);
  float x = ImGui::GetCursorScreenPos().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, ImVec2(at.x + width, at.y + height), view.theme->background, view.px(7));
  compat::rectOutline(list, at, ImVec2(at.x + width, at.y + height), view.theme->line, view.px(7), 1);
  bool changed = false;
  for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
    const Choice& choice = choices[i];
    const float each = widths[static_cast<std::size_t>(i)];
    ImGui::SetCursorScreenPos(ImVec2(std::exchange(x, x + each), at.y));
    const Hit hit =
        hitOf(name + "." + (choice.name.empty() ? choice.label : choice.name), ImVec2(each, height));
    const bool enabled = choice.disabledReason.empty();
    if (i == chosen)
      list.AddRectFilled(ImVec2(hit.from.x + inset, hit.from.y + inset),
                         ImVec2(hit.to.x - inset, hit.to.y - inset), view.theme->raised, view.px(5));
    const std::uint32_t color = !enabled                     ? view.theme->faint
                                : i == chosen || hit.hovered ? view.theme->text
                                                             : view.theme->secondary;
    paintText(list, i == chosen ? view.fonts->bold : view.fonts->text, hit.middle(), color,
              fitted(view.fonts->text, choice.label, each - view.px(4)), Align::center);
    if (hit.hovered && !enabled) tooltip(view, choice.disabledReason);
    if (hit.hovered && enabled) hoverHelp(view, name, help);
    if (hit.clicked && enabled && i != chosen) {
      chosen = i;
      changed = true;
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, height));
  return changed;
}

namespace {
/// Places the list that opens next below its control, or above it if there is too little space. Lists taller
/// than the window scroll.
void placeList(const View& view, const Hit& control, float width, float height) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float margin = view.px(8), space = view.px(4);
  height = std::min(height, screen.y - 2 * margin);
  float y = control.to.y + space;
  if (y + height > screen.y - margin) y = control.from.y - space - height;
  if (y < margin) y = screen.y - margin - height;
  ImGui::SetNextWindowPos(
      ImVec2(std::clamp(control.from.x, margin, std::max(margin, screen.x - margin - width)), y));
  ImGui::SetNextWindowSizeConstraints(ImVec2(0, 0), ImVec2(FLT_MAX, height));
}
}  // namespace

bool dropdown(View& view, const std::string& name, std::span<const Choice> choices, int& chosen, float width,
              const char* help) {
  ImFont* font = view.fonts->text;
  const std::string& label = choices[static_cast<std::size_t>(chosen)].label;
  const float arrow = view.px(16), height = view.px(26);
  const float wide = width > 0 ? width : textWidth(font, label) + arrow + view.px(8);
  const Hit hit = hitOf(name, ImVec2(wide, height));
  if (hit.hovered) hoverHelp(view, name, help);
  Canvas list = *ImGui::GetWindowDrawList();
  // A figure shows only the chosen label; nothing opens in it.
  if (view.figure) {
    paintFitted(view, list, font, ImVec2(hit.from.x, hit.middle().y), wide, view.theme->text, label);
    return false;
  }
  if (width > 0 || hit.hovered)
    list.AddRectFilled(hit.from, hit.to, hit.hovered ? view.theme->raised : view.theme->background,
                       view.px(5));
  const std::uint32_t color = hit.hovered ? view.theme->text : view.theme->secondary;
  const float y = hit.middle().y;
  paintFitted(view, list, font, ImVec2(hit.from.x + view.px(width > 0 ? 8 : 2), y), wide - arrow - view.px(6),
              color, label);
  const ImVec2 tip(hit.to.x - view.px(10), y + view.px(3));
  list.AddTriangleFilled(ImVec2(tip.x - view.px(4), tip.y - view.px(5)),
                         ImVec2(tip.x + view.px(4), tip.y - view.px(5)), tip, color);
  const std::string popup = name + ".list";
  if (hit.clicked) ImGui::OpenPopup(popup.c_str());
  bool changed = false;
  float widest = wide;
  for (const Choice& choice : choices) widest = std::max(widest, textWidth(font, choice.label) + view.px(28));
  placeList(view, hit, widest + view.px(10), view.px(28) * static_cast<float>(choices.size()) + view.px(10));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(view.px(5), view.px(5)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  if (ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove)) {
    for (const InputEvent& event : view.input.events)
      if (event.kind == InputEvent::Kind::key && event.down && event.key == Key::escape)
        ImGui::CloseCurrentPopup();
    for (int i = 0; i < static_cast<int>(choices.size()); ++i) {
      const Choice& choice = choices[i];
      const bool enabled = choice.disabledReason.empty();
      const Hit item =
          hitOf(name + "." + (choice.name.empty() ? choice.label : choice.name), ImVec2(widest, view.px(28)));
      Canvas menu = *ImGui::GetWindowDrawList();
      if (item.hovered && enabled) menu.AddRectFilled(item.from, item.to, view.theme->line, view.px(4));
      if (i == chosen)
        menu.AddCircleFilled(ImVec2(item.from.x + view.px(9), item.middle().y), view.px(3),
                             view.theme->query);
      paintText(menu, font, ImVec2(item.from.x + view.px(20), item.middle().y),
                enabled ? view.theme->text : view.theme->faint, choice.label);
      if (item.hovered && !enabled) tooltip(view, choice.disabledReason);
      if (item.clicked && enabled) {
        changed = i != chosen;
        chosen = i;
        ImGui::CloseCurrentPopup();
      }
    }
    compat::endPopup();
  }
  ImGui::PopStyleVar(2);
  return changed;
}

void paintSwitch(const View& view, const ImRect& area, bool on, std::uint32_t fill) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float half = area.GetHeight() / 2, knob = half - view.px(2.5f), y = area.GetCenter().y;
  list.AddRectFilled(area.Min, area.Max, fill, half);
  if (!on) compat::rectOutline(list, area.Min, area.Max, view.theme->line, half, 1);
  const float x = on ? area.Max.x - half : area.Min.x + half;
  if (drawsMark(list, "switch", ImVec2(x - knob, y - knob), ImVec2(x + knob, y + knob)))
    list.AddCircleFilled(ImVec2(x, y), knob, on ? view.theme->background : view.theme->secondary, 24);
}

bool toggle(View& view, const std::string& name, const std::string& label, bool& value,
            const std::string& disabledReason, const char* help) {
  const float width = contentWidth(), height = view.px(28);
  const Hit hit = hitOf(name, ImVec2(width, height));
  const bool enabled = disabledReason.empty();
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = hit.middle().y;
  paintFitted(view, list, view.fonts->text, ImVec2(hit.from.x, y), width - view.px(44),
              enabled ? view.theme->text : view.theme->faint, label);
  paintSwitch(view, ImRect(hit.to.x - view.px(34), y - view.px(9), hit.to.x, y + view.px(9)), value,
              !value    ? view.theme->raised
              : enabled ? view.theme->query
                        : faded(view.theme->query, 0.75f));
  if (hit.hovered && !enabled) tooltip(view, disabledReason);
  if (hit.hovered && enabled) hoverHelp(view, name, help, label);
  if (!hit.clicked || !enabled) return false;
  value = !value;
  return true;
}

bool button(View& view, const std::string& name, const std::string& label, const std::string& disabledReason,
            bool quiet) {
  ImFont* font = view.fonts->text;
  const Hit hit = hitOf(name, ImVec2(textWidth(font, label) + view.px(quiet ? 12 : 22), view.px(28)));
  if (view.figure) return false;
  const bool enabled = disabledReason.empty();
  Canvas list = *ImGui::GetWindowDrawList();
  if (!quiet || (hit.hovered && enabled)) {
    list.AddRectFilled(hit.from, hit.to, hit.hovered && enabled ? view.theme->line : view.theme->raised,
                       view.px(6));
    if (!quiet) compat::rectOutline(list, hit.from, hit.to, view.theme->line, view.px(6), 1);
  }
  paintText(list, font, hit.middle(),
            !enabled                ? view.theme->faint
            : hit.hovered || !quiet ? view.theme->text
                                    : view.theme->secondary,
            label, Align::center);
  if (hit.hovered && !enabled) tooltip(view, disabledReason);
  return hit.clicked && enabled;
}

bool sectionTitle(View& view, const std::string& title, const std::string& name, const std::string& label) {
  sectionTitle(view, title);
  const ImVec2 corner = ImGui::GetItemRectMax(), after = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos(
      ImVec2(corner.x - textWidth(view.fonts->text, label) - view.px(12), corner.y - view.px(26)));
  const bool pressed = button(view, name, label, "", true);
  ImGui::SetCursorScreenPos(after);
  return pressed;
}

}  // namespace headscope::app

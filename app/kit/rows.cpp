#include "app/kit/rows.h"

#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

constexpr float kSectionGap = 10;  ///< above every section but the first, in layout units

ImFont* wordsIn(const Fonts& fonts, Type type) {
  ImFont* const all[] = {fonts.small, fonts.text, fonts.title, fonts.hero};
  return all[static_cast<std::size_t>(type)];
}
ImFont* figuresIn(const Fonts& fonts, Type type) {
  ImFont* const all[] = {fonts.monoSmall, fonts.mono, fonts.monoTitle, fonts.monoHero};
  return all[static_cast<std::size_t>(type)];
}
float lineUnits(Type type) {
  constexpr float kUnits[] = {20, 24, 28, 34};
  return kUnits[static_cast<std::size_t>(type)];
}

/// Draws a label and a value into `area`; hovering over what was cut shows it whole.
void paintPair(const View& view, const ImRect& area, Type type, const std::string& label,
               const std::string& value, std::uint32_t labelColor, std::uint32_t valueColor) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.GetCenter().y;
  const float room = area.GetWidth() * 0.75f, space = view.px(10);
  ImFont* figures = figuresIn(*view.fonts, type);
  const float taken = std::min(textWidth(figures, value), room);
  paintFitted(view, list, figures, ImVec2(area.Max.x - taken, y), taken + 1, valueColor, value);
  paintFitted(view, list, wordsIn(*view.fonts, type), ImVec2(area.Min.x, y), area.GetWidth() - taken - space,
              labelColor, label);
}

void helpOver(const View& view, const ImRect& area, const std::string& help) {
  if (!help.empty() && ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos))
    tooltip(view, help);
}

}  // namespace

void Rows::section(const std::string& title, const std::string& aside) {
  if (!std::exchange(first_, false)) space(kSectionGap);
  sectionTitle(view_, title, aside);
}

void Rows::section(const std::string& title, const Button& button) {
  if (!std::exchange(first_, false)) space(kSectionGap);
  if (sectionTitle(view_, title, button.name, button.label)) view_.request(button.action);
}

ImRect Rows::area(const std::string& name, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImRect place(at, ImVec2(at.x + width(), at.y + view_.px(height)));
  ImGui::Dummy(place.GetSize());
  if (!name.empty()) track(name, place.Min, place.Max);
  return place;
}

void Rows::pair(const std::string& label, const std::string& value, const PairLook& look) {
  const ImRect place = area(look.name, lineUnits(look.type));
  paintPair(view_, place, look.type, label, value, theme().secondary, look.color ? look.color : theme().text);
  if (look.lined)
    Canvas(*ImGui::GetWindowDrawList()).AddLine(ImVec2(place.Min.x, place.Max.y), place.Max, theme().line);
}

void Rows::pairs(const std::string& name, std::span<const std::pair<std::string, std::string>> values,
                 const std::string& help) {
  const auto lines = static_cast<float>((values.size() + 1) / 2);
  const ImRect place = area(name, lineUnits(Type::text) * lines);
  const float half = place.GetWidth() / 2, apart = view_.px(10), each = view_.px(lineUnits(Type::text));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float x = place.Min.x + (i % 2 ? half + apart : 0),
                y = place.Min.y + each * static_cast<float>(i / 2);
    paintPair(view_, ImRect(x, y, x + half - apart, y + each), Type::text, values[i].first, values[i].second,
              theme().secondary, theme().text);
  }
  helpOver(view_, place, help);
}

bool Rows::option(const std::string& name, const std::string& label, const std::string& value, bool chosen,
                  const std::string& help) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImRect place(at, ImVec2(at.x + width(), at.y + view_.px(28)));
  const bool clicked = hitArea(name, place.GetSize());
  const bool lit = chosen || ImGui::IsItemHovered();
  Canvas list = *ImGui::GetWindowDrawList();
  if (lit)
    list.AddRectFilled(ImVec2(place.Min.x - view_.px(8), place.Min.y),
                       ImVec2(place.Max.x + view_.px(8), place.Max.y), theme().raised, view_.px(5));
  const float y = place.GetCenter().y;
  const float taken =
      paintText(list, view_.fonts->mono, ImVec2(place.Max.x, y), theme().secondary, value, Align::right);
  paintFitted(view_, list, chosen ? view_.fonts->bold : view_.fonts->text, ImVec2(place.Min.x, y),
              place.GetWidth() - taken - view_.px(8), lit ? theme().text : theme().secondary, label);
  if (ImGui::IsItemHovered() && !help.empty()) tooltip(view_, help);
  return clicked;
}

int Rows::options(const std::string& name, std::span<const Option> lines, int chosen, float below,
                  const std::function<std::string(std::size_t)>& help) {
  const float each = view_.px(28), edge = view_.px(8);
  const float most = std::floor((ImGui::GetContentRegionAvail().y - view_.px(below)) / each);
  const float shown = std::clamp(most, 3.0f, 16.0f);
  int clicked = -1;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(edge, 0));
  ImGui::SetCursorScreenPos(ImGui::GetCursorScreenPos() - ImVec2(edge, 0));
  ImGui::BeginChild(
      name.c_str(), ImVec2(width() + edge, each * shown), false,
      ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_AlwaysUseWindowPadding);
  ImGui::PopStyleVar();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is = static_cast<int>(i) == chosen;
    if (option(lines[i].name, lines[i].label, lines[i].value, is)) clicked = static_cast<int>(i);
    if (help && ImGui::IsItemHovered()) hoverHelp(view_, lines[i].name, help(i).c_str());
    if (!is) continue;
    const int now = static_cast<int>(ImGui::GetID(lines[i].name.c_str()));
    int* const before = ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("chosen"));
    if (std::exchange(*before, now) != now && !ImGui::IsItemVisible())
      ImGui::SetScrollY(each * std::max(0.0f, static_cast<float>(i) - std::floor(shown / 2)));
  }
  compat::endChild();
  ImGui::PopStyleVar();
  return clicked;
}

bool Rows::bar(const std::string& name, const std::string& label, double share, const std::string& value,
               const BarLook& look) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view_.px(look.height), right = at.x + width(), y = at.y + height / 2;
  const bool clicked = !name.empty() && hitArea(name, ImVec2(width(), height));
  if (name.empty()) ImGui::Dummy(ImVec2(width(), height));
  const float from = at.x + view_.px(look.label), to = right - view_.px(look.value),
              half = std::min(view_.px(5), height * 0.28f), round = std::min(half, view_.px(3));
  const bool lit = !name.empty() && ImGui::IsItemHovered();
  const std::uint32_t ink = look.ink && !lit ? look.ink : theme().text;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(from, y - half), ImVec2(to, y + half), theme().raised, round);
  const auto end = from + static_cast<float>(std::clamp(share, 0.0, 1.0)) * (to - from);
  if (share > 0)
    list.AddRectFilled(ImVec2(from, y - half), ImVec2(std::max(end, from + view_.px(2)), y + half),
                       look.color ? look.color : theme().secondary, round);
  if (look.height <= 12) return clicked;
  ImFont* figures = look.height < 18 ? view_.fonts->monoSmall : view_.fonts->mono;
  paintFitted(view_, list, look.font ? look.font : figures, ImVec2(at.x, y), from - at.x - view_.px(6), ink,
              label);
  paintText(list, figures, ImVec2(right, y), ink, value, Align::right);
  return clicked;
}

namespace {
/// The width to which the widest parts are cut so that all of them fit into `room`.
float widestPart(std::vector<float> widths, float room) {
  std::sort(widths.begin(), widths.end());
  for (std::size_t i = 0; i < widths.size(); room -= widths[i++])
    if (const float each = room / static_cast<float>(widths.size() - i); widths[i] > each) return each;
  return FLT_MAX;
}
}  // namespace

void Rows::line(Type type, const std::vector<Span>& parts, const std::string& name) {
  const ImRect place = area(name, lineUnits(type));
  ImFont* font = wordsIn(*view_.fonts, type);
  Canvas list = *ImGui::GetWindowDrawList();
  std::vector<float> widths;
  for (const Span& part : parts) widths.push_back(textWidth(font, part.text));
  const float most = std::max(0.0f, widestPart(widths, place.GetWidth()));
  float x = place.Min.x;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const float room = std::min(widths[i], most);
    paintFitted(view_, list, font, ImVec2(x, place.GetCenter().y), room + 1,
                parts[i].color ? parts[i].color : theme().text, parts[i].text);
    x += room;
  }
}

void Rows::paragraph(ImFont* font, const std::string& text, const std::string& name, std::uint32_t color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height =
      paintParagraph(*ImGui::GetWindowDrawList(), font, at, width(), color ? color : theme().text, text);
  ImGui::Dummy(ImVec2(width(), height + view_.px(2)));
  if (!name.empty()) trackItem(name);
}

void Rows::rich(const RichFonts& fonts, const RichText& text, bool explains) {
  Canvas list = *ImGui::GetWindowDrawList();
  std::vector<LinkArea> bold;
  const float height = paintRichText(view_, &list, fonts, text, ImGui::GetCursorScreenPos(), width(), &bold);
  if (explains) explainTerms(view_, list, bold);
  ImGui::Dummy(ImVec2(width(), height));
}

void Rows::hint(const std::string& text, const std::string& name) {
  if (text.empty()) return;
  app::hint(view_, text);
  if (!name.empty()) trackItem(name);
}

void Rows::problem(const std::string& text, const std::string& name) {
  if (text.empty()) return;
  app::problem(view_, text);
  if (!name.empty()) trackItem(name);
}

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

void Rows::actions(std::initializer_list<Button> buttons, const std::string& disabledReason) {
  for (const Button& each : buttons) {
    if (&each != buttons.begin()) ImGui::SameLine(0, view_.px(6));
    action(each.name, each.label, each.action, disabledReason);
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

void Rows::swatch(std::uint32_t color, const std::string& meaning, const std::string& value) {
  const ImRect place = area("", lineUnits(Type::small));
  const float half = view_.px(5), y = place.GetCenter().y;
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(place.Min.x, y - half), ImVec2(place.Min.x + 2 * half, y + half), color);
  paintPair(view_, ImRect(ImVec2(place.Min.x + view_.px(16), place.Min.y), place.Max),
            value.empty() ? Type::small : Type::text, meaning, value, theme().secondary, theme().text);
}

bool ToolBar::part(const char* name, float units, const std::function<void()>& controls) {
  const float wide = view_.px(units);
  if (x_ + wide > area_.Max.x + view_.px(2)) return false;
  controlsIn(name, ImRect(x_, area_.Min.y, x_ + wide, area_.Max.y), controls);
  x_ += wide + view_.px(12);
  return true;
}

void controlsIn(const char* name, const ImRect& area, const std::function<void()>& controls) {
  ImGui::SetCursorScreenPos(area.Min);
  ImGui::BeginChild(
      name, area.GetSize(), false,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  controls();
  compat::endChild();
}

void Rows::space(float units) {
  gap(view_, units);
}

void Rows::bottom(float units) {
  const float at = ImGui::GetWindowHeight() - view_.px(units);
  ImGui::SetCursorPosY(std::max(at, ImGui::GetCursorPosY()));
}

namespace {
void panel(View& view, const ImRect& area, const char* name, const std::function<void(const View&)>& before,
           const std::function<void(Rows&)>& fill) {
  if (beginPanel(view, name, area, 20, 14)) {
    before(view);
    Rows rows(view);
    fill(rows);
    rows.space(10);
    scrollEdge(view, area);
  }
  endPanel();
}
}  // namespace

void leftPanel(View& view, const Layout& layout, const char* name, const std::function<void(Rows&)>& rows) {
  if (!layout.showLeft) return;
  fillSide(view, layout.left);
  panel(
      view, layout.left, name, [](const View&) {}, rows);
}

void rightPanel(View& view, const Layout& layout, const char* name,
                std::initializer_list<const char*> covered, const std::function<void(Rows&)>& rows) {
  if (!layout.showRight) return;
  if (!layout.narrow) fillSide(view, layout.right);
  panel(
      view, layout.right, name, [&](const View& inside) { fillDrawer(inside, layout, covered); }, rows);
}

}  // namespace headscope::app

#include "app/kit/rows.h"

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

constexpr float kSectionGap = 10;  ///< above every section but a panel's first, in layout units

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

/// Returns the width to which the widest are reduced so that all fit into `room`.
float widestThatFits(std::vector<float> widths, float room) {
  std::sort(widths.begin(), widths.end());
  for (auto left = static_cast<float>(widths.size()); const float each : widths) {
    if (each * left > room) return std::max(0.0f, room / left);
    room -= each;
    --left;
  }
  return FLT_MAX;
}

void standApart(const View& view) {
  if (ImGui::GetCursorScreenPos().y > ImGui::GetWindowPos().y + ImGui::GetCursorStartPos().y)
    gap(view, kSectionGap);
}

void helpOver(const View& view, const ImRect& area, const std::string& help) {
  if (!help.empty() && ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos))
    tooltip(view, help);
}

}  // namespace

void Rows::section(const std::string& title, const std::string& aside) {
  standApart(view_);
  sectionTitle(view_, title, aside);
}

void Rows::section(const std::string& title, const Button& button) {
  standApart(view_);
  if (sectionTitle(view_, title, button.name, button.label)) view_.request(button.action);
}

bool Rows::fold(const std::string& title, const std::string& inside, bool opens) {
  standApart(view_);
  std::set<std::string>& unfolded = uiState().unfolded;
  // What Search leads to may be in here, if it isn't on the screen.
  if (opens || view_.reveal.frames > 0) unfolded.insert(title);
  const bool open = uiState().unfolds || unfolded.contains(title);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  sectionTitle(view_, title);
  const ImVec2 next = ImGui::GetCursorScreenPos(), size = ImGui::GetItemRectSize();
  ImGui::SetCursorScreenPos(at);
  if (hitArea("fold." + title, size) && !unfolded.erase(title)) unfolded.insert(title);
  const std::uint32_t ink = ImGui::IsItemHovered() ? theme().text : theme().faint;
  Canvas list = *ImGui::GetWindowDrawList();
  const float half = view_.px(4), y = at.y + size.y / 2;
  const ImVec2 side = open ? ImVec2(half, 0) : ImVec2(0, half);  // ▾ or ▸
  const ImVec2 tip = open ? ImVec2(0, half / 2) : ImVec2(half / 2, 0);
  const ImVec2 middle(at.x + size.x - half, y);
  list.AddTriangleFilled(middle - side - tip, middle + side - tip, middle + tip, ink);
  const float taken = textWidth(view_.fonts->smallBold, title) * 1.3f, room = size.x - taken - view_.px(18);
  if (!open)
    paintText(list, view_.fonts->small, ImVec2(middle.x - view_.px(10), y), theme().faint,
              fitted(view_.fonts->small, inside, room), Align::right);
  ImGui::SetCursorScreenPos(next);
  return open;
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
  const float taken = std::min(textWidth(view_.fonts->mono, value), place.GetWidth() * 0.45f);
  paintFitted(view_, list, view_.fonts->mono, ImVec2(place.Max.x - taken, y), taken + 1, theme().secondary,
              value);
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

void Rows::line(Type type, const std::vector<Span>& parts, const std::string& name) {
  const ImRect place = area(name, lineUnits(type));
  Canvas list = *ImGui::GetWindowDrawList();
  const auto fontOf = [&](const Span& part) {
    return part.kind == Span::Kind::heading ? view_.fonts->smallBold
           : part.kind == Span::Kind::badge ? view_.fonts->small
           : part.font                      ? part.font
                                            : wordsIn(*view_.fonts, type);
  };
  const float spaced = view_.px(1.2f), apart = view_.px(10);
  std::vector<float> widths, words;
  float room = place.GetWidth(), end = place.Max.x, x = place.Min.x;
  for (const Span& part : parts) {
    widths.push_back(textWidth(fontOf(part), part.text));
    if (part.kind == Span::Kind::heading) widths.back() += spaced * static_cast<float>(part.text.size());
    if (part.kind == Span::Kind::badge) widths.back() += apart + view_.px(12);
    if (part.atEnd) room -= apart;
    if (part.kind == Span::Kind::words)
      words.push_back(widths.back());
    else
      room -= widths.back();
  }
  const float most = std::max(0.0f, widestThatFits(std::move(words), room));
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].kind == Span::Kind::words) widths[i] = std::min(widths[i], most);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].atEnd) end -= widths[i] + (end < place.Max.x ? apart : 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Span& part = parts[i];
    const float wide = widths[i];
    float& at = part.atEnd ? end : x;
    const ImVec2 middle(at, place.GetCenter().y);
    const std::uint32_t color = part.color ? part.color : theme().text;
    if (part.kind == Span::Kind::heading)
      paintSpaced(list, fontOf(part), middle, part.color ? color : theme().faint, part.text, spaced);
    else if (part.kind == Span::Kind::badge)
      paintBadge(view_, list, ImVec2(at + apart, middle.y), color, part.text);
    else if (!view_.present || !part.atEnd || textWidth(fontOf(part), part.text) <= wide + 1)  // leaves whole
      paintFitted(view_, list, fontOf(part), middle, wide + 1, color, part.text);
    at += wide + (part.atEnd ? apart : 0);
  }
}

bool Rows::bar(const std::string& name, const ShareBar& bar, bool lights) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImRect place(at, ImVec2(at.x + width(), at.y + view_.px(26)));
  bool clicked = false;
  if (name.empty())
    ImGui::Dummy(place.GetSize());
  else
    clicked = hitArea(name, place.GetSize());
  Canvas list = *ImGui::GetWindowDrawList();
  if (lights && ImGui::IsItemHovered())
    list.AddRectFilled(ImVec2(place.Min.x - view_.px(6), place.Min.y),
                       ImVec2(place.Max.x + view_.px(6), place.Max.y), theme().raised, view_.px(5));
  const float y = place.GetCenter().y, figures = view_.px(58), half = view_.px(7);
  const float marked = bar.mark.empty() ? 0 : view_.px(18);
  const float labels = std::min(view_.px(bar.labelUnits), place.GetWidth() * bar.labels);
  const std::uint32_t color = bar.color ? bar.color : theme().text;
  paintText(list, view_.fonts->monoSmall, ImVec2(place.Min.x, y), theme().faint, bar.mark);
  paintFitted(view_, list, bar.font ? bar.font : view_.fonts->text, ImVec2(place.Min.x + marked, y),
              labels - view_.px(4), color, bar.label);
  paintText(list, view_.fonts->monoSmall, ImVec2(place.Max.x, y), theme().secondary, bar.change,
            Align::right);
  const float figure = place.Max.x - (bar.change.empty() ? 0 : figures), left = place.Min.x + marked + labels;
  paintText(list, view_.fonts->mono, ImVec2(figure, y), color, bar.figure, Align::right);
  const float wide = std::max(8.0f, figure - figures - left);
  list.AddRectFilled(ImVec2(left, y - half), ImVec2(left + wide, y + half), theme().raised);
  list.AddRectFilled(ImVec2(left, y - half), ImVec2(left + std::max(1.0f, wide * bar.share), y + half),
                     color);
  if (bar.before >= 0)
    compat::rectOutline(list, ImVec2(left, y - half - 1),
                        ImVec2(left + std::max(3.0f, wide * bar.before), y + half + 1), theme().text, 0,
                        std::max(1.0f, view_.px(1.4f)));
  return clicked;
}

WordsHit Rows::words(const std::string& name, std::span<const Word> words, float width) {
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* const font = view_.fonts->monoSmall;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float high = view_.px(20), pad = view_.px(3);
  WordsHit hit;
  ImVec2 at = start;
  for (std::ptrdiff_t i = 0; i < std::ssize(words); ++i) {
    const Word& word = words[static_cast<std::size_t>(i)];
    const std::string text = fitted(font, word.text, width - 2 * pad);
    const float wide = textWidth(font, text) + 2 * pad;
    if (at.x > start.x && at.x + wide > start.x + width) at = ImVec2(start.x, at.y + high + pad);
    const ImRect box(at, ImVec2(at.x + wide, at.y + high));
    if (hitArea(name + "." + std::to_string(i), at, box.GetSize())) hit.clicked = i;
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) hit.hovered = i;
    if (hovered || word.lit) list.AddRectFilled(box.Min, box.Max, theme().raised, pad);
    if (word.frame) paintMark(view_, list, "word", box, word.frame, std::max(1.0f, view_.px(2)));
    paintText(list, font, ImVec2(at.x + pad, box.GetCenter().y), word.color ? word.color : theme().text,
              text);
    if (word.underlined)
      list.AddRectFilled(ImVec2(at.x + pad, box.Max.y - pad),
                         ImVec2(box.Max.x - pad, box.Max.y - view_.px(1)), theme().text);
    at.x += wide + view_.px(1);
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, words.empty() ? 0 : at.y + high - start.y));
  return hit;
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

void Rows::swatch(std::uint32_t color, const std::string& meaning, const std::string& value) {
  const ImRect place = area("", lineUnits(Type::small));
  const float half = view_.px(5), y = place.GetCenter().y;
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(place.Min.x, y - half), ImVec2(place.Min.x + 2 * half, y + half), color);
  paintPair(view_, ImRect(ImVec2(place.Min.x + view_.px(16), place.Min.y), place.Max),
            value.empty() ? Type::small : Type::text, meaning, value, theme().secondary, theme().text);
}

void Rows::inWindow(const std::function<void()>& rows) {
  if (!view_.present) rows();
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

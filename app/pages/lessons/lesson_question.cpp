#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/heat_parts.h"
#include "attention/core/extremes.h"

namespace headscope::app::lessons_page {

// The step's question, its options and the reason for its answer.

CellStyle cellStyle(const View& view, const Look& look, const attention::Matrix& values) {
  CellStyle style{colormapFor(look), 0, 1, std::max(1.0f, view.px(1))};
  if (look.quantity == Quantity::scores) {
    std::tie(style.low, style.high) = attention::finiteRange(values);
    style.high = std::max(style.high, style.low + 1e-6f);
  }
  return style;
}

namespace {

/// How an option is laid out in a line of a given width.
struct OptionPlan {
  bool guessed, right, over;  ///< over: answered, and neither right nor chosen
  std::string verdict;        ///< what the answer says of it
  RichFonts fonts;
  RichText text;
  float left, pictureWidth, pictureHigh, textLeft, textRoom, textHigh, high;
};

OptionPlan planOption(const State& page, std::size_t at, float width, bool answered) {
  const View& view = page.view;
  const OptionStudy& option = page.here.study->options[at];
  OptionPlan plan{};
  plan.guessed = page.here.guess == static_cast<Index>(at);
  plan.right = answered && option.holds;
  plan.over = answered && !plan.right && !plan.guessed;
  if (answered && (plan.right || plan.guessed))
    plan.verdict = std::string(plan.right ? "✓ " : "✗ ") + (plan.guessed ? "your answer" : "right");
  const float pad = view.px(12);
  const bool pictured = option.picture.size() > 0, square = option.picture.rows() > 1;
  plan.left = pad + view.px(26);
  plan.pictureWidth = pictured ? std::min(width * 0.3f, view.px(156)) : 0;
  plan.pictureHigh = !pictured ? 0 : view.px(!square ? 24 : width < view.px(300) ? 58 : 72);
  plan.textLeft = plan.left + (pictured ? plan.pictureWidth + view.px(16) : 0);
  plan.textRoom = width - pad - plan.textLeft;
  plan.fonts = richFonts(view, plan.over ? view.theme->secondary : view.theme->text);
  if (plan.right) plan.fonts.plain = plan.fonts.bold;
  plan.text = richOrPlain(option.text);
  plan.textHigh = paintRichText(view, nullptr, plan.fonts, plan.text, ImVec2(0, 0), plan.textRoom);
  if (!plan.verdict.empty()) plan.textHigh += lineHeight(view.fonts->small) + view.px(2);
  plan.high = std::max({view.px(44), plan.textHigh + view.px(18), plan.pictureHigh + view.px(16)});
  return plan;
}

/// An option: its letter, picture, text and, once answered, whether it is right.
void optionLine(Rows& rows, State& page, std::size_t at) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const OptionStudy& option = page.here.study->options[at];
  const float width = rows.width(), pad = view.px(12);
  const OptionPlan plan = planOption(page, at, width, page.here.answered);
  const bool clicked = hitArea("lesson.option." + optionLetter(at), ImVec2(width, plan.high));
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  const bool open = !page.here.answered, hovered = ImGui::IsItemHovered() && open;
  if (clicked && open) page.asked.option = static_cast<Index>(at);
  Canvas list = *ImGui::GetWindowDrawList();
  if (plan.right || hovered)
    list.AddRectFilled(from, to, plan.right ? theme.raised : mixed(theme.panel, theme.raised, 0.6f),
                       view.px(6));
  if (plan.guessed || (open && !hovered))
    compat::rectOutline(list, from, to, plan.guessed ? theme.text : theme.line, view.px(6), 1);
  const float y = (from.y + to.y) / 2;
  paintText(list, view.fonts->mono, ImVec2(from.x + pad, y), plan.fonts.color, optionLetter(at));
  if (plan.pictureWidth > 0) {
    const ImRect room(from.x + plan.left, y - plan.pictureHigh / 2, from.x + plan.left + plan.pictureWidth,
                      y + plan.pictureHigh / 2);
    const attention::Matrix& picture = option.picture;
    const ImRect cells = picture.rows() > 1 ? squareCells(room, picture.rows(), picture.cols()) : room;
    paintCells(view, list, cells, picture, cellStyle(view, page.at().scene.look, picture));
    if (plan.over) list.AddRectFilled(cells.Min, cells.Max, faded(theme.panel, 0.5f));
  }
  const ImVec2 words(from.x + plan.textLeft, y - plan.textHigh / 2);
  const float used = paintRichText(view, &list, plan.fonts, plan.text, words, plan.textRoom);
  if (!plan.verdict.empty())
    paintText(list, view.fonts->small,
              ImVec2(words.x, words.y + used + view.px(2) + lineHeight(view.fonts->small) / 2),
              plan.right ? theme.text : theme.secondary, plan.verdict);
}

/// Why the answer is right, and why the person's is wrong.
std::vector<std::string> reasons(const State& page) {
  const auto& options = page.here.study->options;
  const Index guess = page.here.guess;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i].holds && !options[i].why.empty())
      all.push_back((guess == static_cast<Index>(i) ? "**Right.** " : "") + options[i].why);
  if (guess >= 0 && !options[asSize(guess)].holds && !options[asSize(guess)].why.empty())
    all.push_back("**" + optionLetter(asSize(guess)) + " is wrong.** " + options[asSize(guess)].why);
  return all;
}

}  // namespace

void questionReason(Rows& rows, const State& page) {
  for (const std::string& reason : reasons(page)) {
    rows.space(0);
    rows.rich(richFonts(page.view), richOrPlain(reason));
  }
}

float questionHeight(const State& page, float width) {
  const View& view = page.view;
  const float gap = view.px(10);
  RichFonts fonts = richFonts(view);
  const auto high = [&](const std::string& text) {
    return paintRichText(view, nullptr, fonts, richOrPlain(text), ImVec2(0, 0), width) + gap;
  };
  float height = 2 * gap;
  for (const std::string& reason : reasons(page)) height += high(reason) + gap;
  for (std::size_t i = 0; i < page.here.study->options.size(); ++i)
    height += planOption(page, i, width, true).high + gap;
  fonts.plain = fonts.bold;
  return height + high(page.here.study->ask);
}

void questionItself(Rows& rows, const State& page) {
  RichFonts fonts = richFonts(page.view);
  fonts.plain = fonts.bold;
  rows.rich(fonts, richOrPlain(page.here.study->ask));
}

void questionPart(Rows& rows, State& page) {
  questionItself(rows, page);
  rows.space(2);
  for (std::size_t i = 0; i < page.here.study->options.size(); ++i) optionLine(rows, page, i);
  if (page.here.answered) questionReason(rows, page);
}

namespace {

/// The options side by side for an audience, as high as the room below or, once answered, as their words.
void optionsBeside(Rows& rows, State& page) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const auto& options = page.here.study->options;
  const auto count = static_cast<float>(options.size());
  const bool answered = page.here.answered;
  const float gap = view.px(10), each = (rows.width() - gap * (count - 1)) / count;
  const float letter = gap + textWidth(view.fonts->monoTitle, "A") + view.px(8), room = each - letter - gap;
  bool large = true;
  const auto words = [&](Canvas* into, std::size_t i, ImVec2 from) {
    const bool right = answered && options[i].holds;
    RichFonts fonts = large ? readingFonts(view, theme.text) : richFonts(view);
    if (answered && !right) fonts.color = theme.secondary;
    return paintRichText(view, into, fonts, richOrPlain((right ? "✓ " : "") + options[i].text), from, room);
  };
  const auto needed = [&] {
    float most = 0;
    for (std::size_t i = 0; i < options.size(); ++i) most = std::max(most, words(nullptr, i, ImVec2(0, 0)));
    return most + view.px(12);
  };
  // Use the desk-reading size if it fits.
  const float below = answered ? 0 : ImGui::GetContentRegionAvail().y;
  large = needed() <= below;
  const ImVec2 size(each, std::max(below, needed()));
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (i > 0) ImGui::SameLine(0, gap);
    if (hitArea("lesson.option." + optionLetter(i), size) && !answered)
      page.asked.option = static_cast<Index>(i);
    Canvas list = *ImGui::GetWindowDrawList();
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    const bool right = answered && options[i].holds, chosen = page.here.guess == static_cast<Index>(i);
    if (right) list.AddRectFilled(from, to, theme.raised, view.px(6));
    compat::rectOutline(list, from, to, chosen || right ? theme.text : theme.line, view.px(6), 1);
    const float top = from.y + (size.y - words(nullptr, i, ImVec2(0, 0))) / 2;
    paintText(list, view.fonts->monoTitle, ImVec2(from.x + gap, top + view.px(10)),
              answered && !right ? theme.secondary : theme.text, optionLetter(i));
    words(&list, i, ImVec2(from.x + letter, top));
  }
}

}  // namespace

void lessonCaption(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddRectFilled(area.Min, area.Max, theme.panel);
  if (beginPanel(view, "lesson.caption", area, 16, 10)) {
    ImGui::PushClipRect(area.Min, area.Max, false);
    track("lesson.caption", area.Min, area.Max);
    ImGui::PopClipRect();
    Rows rows(view);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const bool beside = area.GetHeight() > area.GetWidth() * 0.6f;
    if (!page.here.study) {
      rows.problem(page.here.problem);
      if (page.here.problem.empty()) rows.line(Type::title, {{"Computing…", theme.secondary}});
    } else if (page.here.ended) {
      rows.line(Type::title, {{"What you learned"}});
      lessonEnd(rows, page, richFonts(view));
    } else if (!page.at().question || page.explains()) {
      RichFonts title = richFonts(view);
      title.plain = view.fonts->title;
      rows.rich(title, {{{RichSpan::Kind::plain, page.at().title, nullptr}}});
      rows.rich(richFonts(view), richOrPlain(page.here.study->text));
    } else if (beside) {
      questionPart(rows, page);
    } else {
      questionItself(rows, page);
      optionsBeside(rows, page);
      if (page.here.answered) questionReason(rows, page);
    }
    track("lesson.caption.words", from, ImVec2(from.x + rows.width(), ImGui::GetItemRectMax().y));
    if (beside && page.here.study && !page.here.ended) comparisonBelow(rows, page);
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page

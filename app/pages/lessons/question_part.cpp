#include <algorithm>
#include <tuple>

#include "app/compute/layer/value_range.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/platform/track.h"
#include "app/widgets/cells.h"
#include "app/widgets/paint.h"
#include "attention/core/extremes.h"

namespace headscope::app::lessons_page {

namespace {

/// The cell colours of the scene that the question is about.
CellStyle rowStyle(const State& page, const attention::Matrix& picture) {
  const Scene& scene = page.at().scene;
  CellStyle style{colormapFor(scene.look), 0, 1, std::max(1.0f, page.view.px(1))};
  if (scene.look.quantity == Quantity::scores) {
    std::tie(style.low, style.high) = attention::finiteRange(picture);
    style.high = std::max(style.high, style.low + 1e-6f);
  }
  return style;
}

/// Draws an option: its letter, picture, text and, once answered, whether it is right. Returns its height.
float optionLine(State& page, std::size_t at, ImVec2 from, float width) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const OptionStudy& option = page.here.study->options[at];
  const bool guessed = page.here.guess == static_cast<Index>(at), right = page.here.answered && option.holds;
  const bool over = page.here.answered && !right && !guessed;
  const float pad = view.px(12), letter = view.px(26);
  const bool pictured = option.picture.size() > 0;
  const bool square = option.picture.rows() > 1;
  const float pictureWidth = pictured ? std::min(width * 0.3f, view.px(156)) : 0;
  const std::string word = right ? "✓ computed" : guessed ? (view.present ? "hands" : "your answer") : "";
  const float wordWidth = word.empty() ? 0 : textWidth(view.fonts->small, word) + pad;
  const float textLeft = from.x + pad + letter + (pictured ? pictureWidth + view.px(16) : 0);
  const float textRoom = from.x + width - pad - wordWidth - textLeft;
  const std::uint32_t color = over ? theme.secondary : theme.text;
  const RichFonts fonts{right ? view.fonts->bold : view.fonts->text, view.fonts->bold, view.fonts->mono,
                        view.fonts->small, color};
  const RichText text = richOrPlain(option.text);
  const float textHigh = paintRichText(view, nullptr, fonts, text, ImVec2(0, 0), textRoom);
  const float pictureHigh = square ? view.px(view.present ? 58 : 72) : view.px(24);
  const float high =
      std::max({view.px(44), textHigh + view.px(18), pictured ? pictureHigh + view.px(16) : 0});
  const ImVec2 to(from.x + width, from.y + high);
  const std::string name = "lesson.option." + optionLetter(at);
  const bool clicked = hitArea(name, from, ImVec2(width, high));
  const bool hovered = ImGui::IsItemHovered() && !page.here.answered;
  if (clicked && !page.here.answered) page.asked.option = static_cast<Index>(at);
  Canvas list = *ImGui::GetWindowDrawList();
  if (right || hovered)
    list.AddRectFilled(from, to, right ? theme.raised : mixed(theme.panel, theme.raised, 0.6f), view.px(6));
  if (guessed || (!page.here.answered && !hovered))
    compat::rectOutline(list, from, to, guessed ? theme.text : theme.line, view.px(6), 1);
  const float y = from.y + high / 2;
  paintText(list, view.fonts->mono, ImVec2(from.x + pad, y), color, optionLetter(at));
  if (pictured) {
    const ImRect room(from.x + pad + letter, y - pictureHigh / 2, from.x + pad + letter + pictureWidth,
                      y + pictureHigh / 2);
    const ImRect cells = square ? squareCells(room, option.picture.rows(), option.picture.cols()) : room;
    paintCells(view, list, cells, option.picture, rowStyle(page, option.picture));
    if (over) list.AddRectFilled(cells.Min, cells.Max, faded(theme.panel, 0.5f));
  }
  paintRichText(view, &list, fonts, text, ImVec2(textLeft, y - textHigh / 2), textRoom);
  if (!word.empty())
    paintText(list, view.fonts->small, ImVec2(to.x - pad, y), right ? theme.text : theme.secondary, word,
              Align::right);
  return high;
}

}  // namespace

float questionReason(const State& page, ImVec2 at, float width) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto& options = page.here.study->options;
  const RichFonts fonts{view.fonts->text, view.fonts->bold, view.fonts->mono, view.fonts->small,
                        view.theme->text};
  float y = at.y;
  const auto say = [&](std::size_t option, const std::string& start) {
    if (options[option].why.empty()) return;
    y += paintRichText(view, &list, fonts, richOrPlain(start + options[option].why), ImVec2(at.x, y), width) +
         view.px(8);
  };
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i].holds) say(i, page.here.guess == static_cast<Index>(i) ? "**Right.** " : "");
  if (page.here.guess >= 0 && !options[static_cast<std::size_t>(page.here.guess)].holds)
    say(static_cast<std::size_t>(page.here.guess),
        "**Not " + optionLetter(static_cast<std::size_t>(page.here.guess)) + ":** ");
  return y - at.y;
}

float questionPart(State& page, ImVec2 at, float width) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  float y = at.y;
  const RichFonts fonts{view.fonts->bold, view.fonts->bold, view.fonts->mono, view.fonts->small,
                        view.theme->text};
  y += paintRichText(view, &list, fonts, richOrPlain(page.here.study->ask), ImVec2(at.x, y), width) +
       view.px(10);
  for (std::size_t i = 0; i < page.here.study->options.size(); ++i)
    y += optionLine(page, i, ImVec2(at.x, y), width) + view.px(6);
  y += view.px(8);
  if (page.here.answered) y += questionReason(page, ImVec2(at.x, y), width);
  return y - at.y;
}

}  // namespace headscope::app::lessons_page

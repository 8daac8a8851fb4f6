#include <fmt/core.h>

#include <algorithm>

#include "app/pages/lessons/lessons_state.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app::lessons_page {

namespace {

/// Draws the options side by side for an audience, at least `high` pixels high. Returns their height.
float options(State& page, ImVec2 at, float width, float high) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::size_t count = page.here.study->options.size();
  const float gap = view.px(10), pad = view.px(10);
  const float each = (width - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
  const float letter = textWidth(view.fonts->monoTitle, "A") + view.px(8), room = each - letter - 2 * pad;
  bool large = true;
  const auto words = [&](Canvas* into, std::size_t i, ImVec2 from) {
    const OptionStudy& option = page.here.study->options[i];
    const bool right = page.here.answered && option.holds;
    RichFonts fonts = large ? readingFonts(view, theme.text)
                            : RichFonts{view.fonts->text, view.fonts->bold, view.fonts->mono,
                                        view.fonts->small, theme.text};
    if (page.here.answered && !right) fonts.color = theme.secondary;
    return paintRichText(view, into, fonts, richOrPlain((right ? "✓ " : "") + option.text), from, room);
  };
  const auto needed = [&] {
    float most = 0;
    for (std::size_t i = 0; i < count; ++i) most = std::max(most, words(nullptr, i, ImVec2(0, 0)));
    return most + view.px(12);
  };
  // Use the desk-reading size if it fits.
  large = needed() <= high;
  high = std::max(high, needed());
  for (std::size_t i = 0; i < count; ++i) {
    const ImVec2 from(at.x + (each + gap) * static_cast<float>(i), at.y);
    const ImVec2 to(from.x + each, from.y + high);
    const bool right = page.here.answered && page.here.study->options[i].holds,
               chosen = page.here.guess == static_cast<Index>(i);
    const std::string name = "lesson.option." + optionLetter(i);
    if (hitArea(name, from, ImVec2(each, high)) && !page.here.answered)
      page.asked.option = static_cast<Index>(i);
    if (right) list.AddRectFilled(from, to, theme.raised, view.px(6));
    compat::rectOutline(list, from, to, chosen || right ? theme.text : theme.line, view.px(6), 1);
    const float top = from.y + (high - words(nullptr, i, ImVec2(0, 0))) / 2;
    paintText(list, view.fonts->monoTitle, ImVec2(from.x + pad, top + view.px(10)),
              page.here.answered && !right ? theme.secondary : theme.text, optionLetter(i));
    words(&list, i, ImVec2(from.x + pad + letter, top));
  }
  return high;
}

/// The question above its options, and the reason once it is answered.
void askBelow(State& page, const ImRect& area) {
  const View& view = page.view;
  const RichFonts fonts{view.fonts->bold, view.fonts->bold, view.fonts->mono, view.fonts->small,
                        view.theme->text};
  const float x = area.Min.x, width = area.GetWidth();
  Canvas list = *ImGui::GetWindowDrawList();
  float y = area.Min.y;
  y += paintRichText(view, &list, fonts, richOrPlain(page.here.study->ask), ImVec2(x, y), width) + view.px(6);
  const float high = page.here.answered ? 0 : area.Max.y - view.px(8) - y;
  y += options(page, ImVec2(x, y), width, high);
  if (page.here.answered) y += view.px(6) + questionReason(page, ImVec2(x, y + view.px(6)), width);
  track("lesson.caption.words", area.Min, ImVec2(area.Max.x, y));
}

}  // namespace

void lessonCaption(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  if (beginPanel(view, "lesson.caption", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    Canvas list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.Min, area.Max, theme.panel);
    track("lesson.caption", area.Min, area.Max);
    const float pad = view.px(16), width = area.GetWidth() - 2 * pad;
    const float x = area.Min.x + pad;
    float y = area.Min.y + view.px(10);
    const RichFonts fonts{view.fonts->text, view.fonts->bold, view.fonts->mono, view.fonts->small,
                          theme.text};
    if (!page.here.study) {
      paintText(list, view.fonts->title, ImVec2(x, y + view.px(12)), theme.secondary,
                page.here.problem.empty() ? "Computing…" : page.here.problem);
    } else if (page.at().question && !page.explains()) {
      if (area.GetHeight() > area.GetWidth() * 0.6f) {
        ImGui::SetCursorScreenPos(ImVec2(x, y));
        if (ImGui::BeginChild("lesson.caption.question",
                              ImVec2(width + pad * 0.6f, area.Max.y - y - view.px(6)), false,
                              ImGuiWindowFlags_NoBackground)) {
          const ImVec2 from = ImGui::GetCursorScreenPos();
          const float high = questionPart(page, from, width);
          track("lesson.caption.words", from, ImVec2(from.x + width, from.y + high));
          ImGui::SetCursorScreenPos(from);
          ImGui::Dummy(ImVec2(width, high));
        }
        compat::endChild();
        return endPanel();
      }
      askBelow(page, ImRect(x, y, x + width, area.Max.y));
    } else {
      y += paintRichText(
               view, &list,
               {view.fonts->title, view.fonts->title, view.fonts->mono, view.fonts->small, theme.text},
               {{{RichSpan::Kind::plain, page.at().title, nullptr}}}, ImVec2(x, y), width) +
           view.px(4);
      y += paintRichText(view, &list, fonts, richOrPlain(page.here.study->text), ImVec2(x, y), width);
      track("lesson.caption.words", ImVec2(x, area.Min.y), ImVec2(x + width, y));
    }
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page

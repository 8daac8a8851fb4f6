#include <fmt/core.h>

#include <algorithm>

#include "app/labs/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// Options side by side, for a hall.
void options(LessonsPage& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::size_t count = page.study->options.size();
  const float gap = view.px(10);
  const float width = (area.GetWidth() - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const OptionStudy& option = page.study->options[i];
    const ImVec2 from(area.Min.x + (width + gap) * static_cast<float>(i), area.Min.y);
    const ImVec2 to(from.x + width, area.Max.y);
    const bool right = page.answered && option.holds, chosen = page.guess == static_cast<Index>(i);
    ImGui::SetCursorScreenPos(from);
    const std::string name = "lesson.option." + optionLetter(i);
    if (ImGui::InvisibleButton(name.c_str(), ImVec2(width, to.y - from.y)) && !page.answered)
      page.chosen = static_cast<Index>(i);
    trackItem(name);
    if (right) list.AddRectFilled(from, to, theme.raised, view.px(6));
    compat::rectOutline(list, from, to, chosen || right ? theme.text : theme.line, view.px(6), 1);
    const bool over = page.answered && !right;
    const std::uint32_t color = over ? theme.secondary : theme.text;
    const float x = from.x + view.px(10), y = from.y + view.px(16);
    const float letter = paintText(list, view.fonts->monoTitle, ImVec2(x, y), color, optionLetter(i));
    list.PushClipRect(from, to, true);
    const RichFonts fonts{view.fonts->text, view.fonts->bold, view.fonts->mono, view.fonts->small, color};
    paintRichText(view, &list, fonts, richOrPlain((right ? "✓ " : "") + option.text),
                  ImVec2(x + letter + view.px(8), from.y + view.px(6)), width - letter - view.px(28));
    list.PopClipRect();
  }
}

}  // namespace

void lessonCaption(LessonsPage& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  if (beginPanel(view, "lesson.caption", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(area.Min, area.Max, theme.panel);
    track("lesson.caption", area.Min, area.Max);
    const float pad = view.px(16), width = area.GetWidth() - 2 * pad;
    const float x = area.Min.x + pad;
    float y = area.Min.y + view.px(10);
    const RichFonts fonts{view.fonts->text, view.fonts->bold, view.fonts->mono, view.fonts->small,
                          theme.text};
    if (!page.study) {
      paintText(list, view.fonts->title, ImVec2(x, y + view.px(12)), theme.secondary,
                page.problem.empty() ? "Computing…" : page.problem);
    } else if (page.at().question) {
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
      const RichFonts asks{view.fonts->bold, view.fonts->bold, view.fonts->mono, view.fonts->small,
                           theme.text};
      y += paintRichText(view, &list, asks, richOrPlain(page.study->ask), ImVec2(x, y), width) + view.px(8);
      options(page, ImRect(x, y, x + width, area.Max.y - view.px(8)));
      track("lesson.caption.words", ImVec2(x, area.Min.y), ImVec2(x + width, area.Max.y - view.px(8)));
    } else {
      y += paintRichText(
               view, &list,
               {view.fonts->title, view.fonts->title, view.fonts->mono, view.fonts->small, theme.text},
               {{{RichSpan::Kind::plain, page.at().title, nullptr}}}, ImVec2(x, y), width) +
           view.px(4);
      y += paintRichText(view, &list, fonts, richOrPlain(page.study->text), ImVec2(x, y), width);
      track("lesson.caption.words", ImVec2(x, area.Min.y), ImVec2(x + width, y));
    }
  }
  endPanel();
}

}  // namespace headscope::app

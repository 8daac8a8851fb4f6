#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/shell/exports.h"
#include "app/widgets/paint.h"

namespace headscope::app {

std::vector<FigurePage> handoutPages(const Scene& scene, const std::string& name) {
  std::vector<FigurePage> pages;
  const std::vector<TalkView> talk = talkViews(scene);
  for (std::size_t at = 0; at < talk.size(); ++at)
    pages.push_back({.scene = *talk[at].scene,
                     .words = {.file = name, .title = viewTitle(talk[at], at), .notes = talk[at].notes}});
  if (pages.empty()) pages.push_back({.scene = scene, .words = {.file = name, .title = name}});
  return pages;
}

std::vector<FigurePage> handoutPages(const std::shared_ptr<const Lesson>& lesson, bool answers) {
  std::vector<FigurePage> pages;
  for (const LessonStep& step : lesson->steps)
    pages.push_back({.scene = lessons_page::stageScene(*lesson, step, answers || !step.question),
                     .step = {lesson, pages.size(), answers}});
  return pages;
}

attention::Result<HandoutWords> handoutWords(const HandoutStep& step, Resources& resources,
                                             std::stop_token stop) {
  const auto study = studyStep(*step.lesson, step.at, resources, std::move(stop));
  if (!study) return study.error();
  HandoutWords words{.file = step.lesson->title,
                     .title = step.lesson->steps[step.at].title,
                     .notes = (*study)->text,
                     .ask = (*study)->ask};
  for (const OptionStudy& option : (*study)->options) {
    if (step.answers && option.holds)
      words.answer =
          fmt::format("**{} is right.** {}", lessons_page::optionLetter(words.options.size()), option.why);
    words.options.push_back(option.text);
  }
  return words;
}

namespace {

/// Sheet units per layout unit, which set the size of the type. The type shrinks from the largest to the
/// smallest size until the text fits.
constexpr float kLargestType = 2.2f, kSmallestType = 0.9f;
constexpr auto kLeft = static_cast<float>(kHandoutPicture.x), kTop = static_cast<float>(kHandoutPicture.y),
               kRight = static_cast<float>(kHandoutPicture.right()),
               kPictureEnd = static_cast<float>(kHandoutPicture.bottom());
constexpr float kFoot = static_cast<float>(kHandoutSheet.height) - 60;

/// Drops numbered marks, which refer to places in the window, and the spaces before them.
RichText readText(const std::string& text) {
  RichText rich = lessons_page::richOrPlain(text);
  for (auto& paragraph : rich)
    for (std::size_t i = paragraph.size(); i-- > 0;) {
      if (paragraph[i].kind != RichSpan::Kind::mark) continue;
      paragraph.erase(paragraph.begin() + static_cast<std::ptrdiff_t>(i));
      if (i > 0 && paragraph[i - 1].text.ends_with(' ')) paragraph[i - 1].text.pop_back();
    }
  return rich;
}

/// Lays out a view's text, with sheet units of `pixels` pixels. Returns where it ends on the sheet, in sheet
/// units. Without a list, only measures.
float setWords(const View& view, Canvas* list, const HandoutWords& said, float pixels) {
  const Theme& theme = *view.theme;
  const Fonts& fonts = *view.fonts;
  float y = (kPictureEnd + 36) * pixels;
  const auto set = [&](ImFont* plain, const std::string& text, float indent, float gap) {
    if (text.empty()) return;
    const RichFonts rich{plain, fonts.bold, fonts.mono, fonts.small, theme.text};
    y += paintRichText(view, list, rich, readText(text), ImVec2(kLeft * pixels + indent, y),
                       (kRight - kLeft) * pixels - indent) +
         view.px(gap);
  };
  set(fonts.title, said.title, 0, 8);
  set(fonts.text, said.notes, 0, 14);
  set(fonts.bold, said.ask, 0, 6);
  const float letter = view.px(24);
  for (std::size_t i = 0; i < said.options.size(); ++i) {
    if (list)
      paintText(*list, fonts.mono, ImVec2(kLeft * pixels, y + lineHeight(fonts.text) * 0.6f), theme.text,
                lessons_page::optionLetter(i));
    set(fonts.text, said.options[i], letter, 6);
  }
  y += said.answer.empty() ? 0 : view.px(8);
  set(fonts.text, said.answer, 0, 0);
  return y / pixels;
}

}  // namespace

float sheetPixels(const View& view, const HandoutWords& said) {
  float type = kLargestType;
  while (type > kSmallestType && setWords(view, nullptr, said, view.unit / type) > kFoot - 20)
    type = std::max(type * 0.93f, kSmallestType);
  return view.unit / type;
}

void paintSheet(const View& view, Canvas list, const HandoutWords& said, const std::string& place,
                float pixels) {
  setWords(view, &list, said, pixels);
  ImFont* const font = view.fonts->small;
  paintText(list, font, ImVec2(kLeft * pixels, kFoot * pixels), view.theme->secondary, said.file);
  paintText(list, font, ImVec2(kRight * pixels, kFoot * pixels), view.theme->secondary, place, Align::right);
  compat::rectOutline(list, ImVec2((kLeft - 1) * pixels, (kTop - 1) * pixels),
                      ImVec2((kRight + 1) * pixels, (kPictureEnd + 1) * pixels), view.theme->line, 0, pixels);
}

}  // namespace headscope::app

#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/widgets/controls.h"
#include "app/widgets/field_controls.h"

namespace headscope::app::lessons_page {

namespace {

/// The lesson's title, the step and the time left.
void head(Rows& rows, State& page) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const Lesson& lesson = *page.here.lesson;
  if (button(view, "lesson.list", "‹  All lessons", "", true)) view.request("lesson.list");
  const std::string step = fmt::format("step {} of {}", page.here.step + 1, lesson.steps.size()),
                    left = countedText(minutesLeft(lesson, page.here.step), "minute") + " left";
  const ImRect link(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  const float room = rows.width() - link.GetWidth() - view.px(12);
  paintText(*ImGui::GetWindowDrawList(), view.fonts->small,
            ImVec2(link.Min.x + rows.width(), link.GetCenter().y), theme.secondary,
            firstFitting(view.fonts->small, {step + ", about " + left, step}, room), Align::right);
  const int all = page.list.library->shippedCount();
  const bool numbered = lesson.number > 0 && lesson.number <= all;
  rows.line(Type::text,
            {{lesson.title, theme.secondary},
             {numbered ? fmt::format("{} of {}", lesson.number, all) : "", theme.secondary, nullptr, true}});
  const ImRect bar = rows.area("", 4);
  const ImVec2 below = ImGui::GetCursorScreenPos();
  stepBar(view, bar, std::ssize(lesson.steps), view.px(6), [&](Index i, const ImRect& part) {
    if (hitArea(fmt::format("lesson.step.{}", i), ImVec2(part.Min.x, part.Min.y - view.px(8)),
                ImVec2(std::max(part.GetWidth(), 1.0f), view.px(20))))
      page.asked.step = i;
    if (ImGui::IsItemHovered()) tooltip(view, lesson.steps[asSize(i)].title);
    return i > page.here.step ? 0 : i == page.here.step ? theme.text : theme.faint;
  });
  ImGui::SetCursorScreenPos(below);
}

/// The settings that the step changes.
void changes(Rows& rows, const State& page) {
  const LessonStep& step = page.at();
  auto all = changesBetween(step.changed, sceneBefore(*page.here.lesson, step), step.scene);
  if (all.empty()) return;
  if (all.size() > 4) all.resize(4);
  const View& view = page.view;
  const RichFonts fonts = richFonts(view);
  using Kind = RichSpan::Kind;
  RichText lines;
  for (const ChangedField& change : all) {
    lines.push_back({{Kind::plain, change.label, nullptr}});
    if (change.before.empty()) continue;
    for (RichSpan span : {RichSpan{Kind::plain, "  ", nullptr}, RichSpan{Kind::code, change.before, nullptr},
                          RichSpan{Kind::plain, "  →  ", nullptr}, RichSpan{Kind::bold, change.now, nullptr}})
      lines.back().push_back(std::move(span));
  }
  const float pad = view.px(10);
  const float high = paintRichText(view, nullptr, fonts, lines, ImVec2(0, 0), rows.width() - 2 * pad);
  ImRect box = rows.area("", high / view.unit + 20);
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(box.Min, box.Max, mixed(view.theme->panel, view.theme->background, 0.6f), view.px(6));
  box.Expand(-pad);
  paintRichText(view, &list, fonts, lines, box.Min, box.GetWidth());
  rows.space(10);
}

/// The control of a field.
void control(State& page, const std::string& path) {
  View& view = page.view;
  Scene& scene = page.stage.document->scene();
  // A plain mask's switch, with its sizes while it is on.
  for (const PlainMask& mask : kPlainMasks)
    if (path == mask.path)
      return ruleSwitch(scene.setup.mask.layers, mask.kind, mask.path, mask.label, {}, view);
  if (path == "mask.layers") {
    for (std::size_t i = 0; i < scene.setup.mask.layers.size(); ++i)
      parameterSliders(scene.setup.mask.layers, i, fmt::format("lesson.mask.{}", i), {}, view);
    return;
  }
  const Field& field = fieldAt(path);
  if (std::holds_alternative<Slider>(field.control)) fieldSlider(view, scene, path);
  if (std::holds_alternative<Toggle>(field.control)) fieldToggle(view, scene, path);
  if (std::holds_alternative<Selection>(field.control)) {
    hint(view, field.help);
    fieldChoice(view, scene, path);
  }
}

/// The step's controls, and a reset button if something was changed.
void controls(Rows& rows, State& page) {
  const LessonStep& step = page.at();
  if (step.tries.empty() && !page.stage.changed) return;
  if (page.stage.changed)
    rows.section("TRY IT", {"lesson.restore", "Reset step  Esc", "lesson.restore"});
  else
    rows.section("TRY IT", "as in the lesson");
  if (!page.asking())
    for (const std::string& path : step.tries) control(page, path);
  if (!page.stage.changed) return;
  const Scene& written = page.asking() ? sceneBefore(*page.here.lesson, step) : step.scene;
  const auto moved = changesBetween(written, page.stage.document->scene());
  rows.space(6);
  if (!moved.empty())
    rows.hint(fmt::format("You changed: {}{}", changeText(moved.front()),
                          moved.size() > 1 ? fmt::format(", and {} more", moved.size() - 1) : ""));
}

struct WayOn {
  std::string label, brief;
};

WayOn wayOn(const State& page) {
  if (page.asking()) return {page.here.guess >= 0 ? "Show the answer" : "Skip to the answer", "Answer"};
  const auto next = asSize(page.here.step + 1);
  if (next < page.here.lesson->steps.size()) return {page.here.lesson->steps[next].title, "Next"};
  if (!page.here.ended && !page.here.lesson->learned.empty()) return {"What you learned", "Next"};
  return {"Finish the lesson", "Finish"};
}

/// The Back and Next buttons, always visible.
void backAndNext(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList(), back = *ImGui::GetBackgroundDrawList();
  back.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
  const float pad = view.px(28), y = area.GetCenter().y, half = view.px(17);
  const bool canBack = page.here.ended || page.here.step > 0 || (page.here.answered && page.at().question);
  const auto [label, brief] = wayOn(page);
  // The title of the next step needs the space more than the word "Back" does.
  const bool wordless =
      textWidth(view.fonts->bold, label) + view.px(66) > area.GetWidth() - 2 * pad - view.px(104);
  const ImRect last(area.Min.x + pad, y - half, area.Min.x + pad + view.px(wordless ? 40 : 104), y + half);
  const float left = std::max(last.Max.x + view.px(16), area.Max.x - pad - view.px(252));
  const ImRect next(left, y - half, area.Max.x - pad, y + half);
  if (hitArea("lesson.back", last) && canBack) view.request("lesson.back");
  list.AddRectFilled(last.Min, last.Max, ImGui::IsItemHovered() && canBack ? theme.line : theme.raised,
                     view.px(6));
  paintText(list, view.fonts->text, last.GetCenter(), canBack ? theme.text : theme.faint,
            wordless ? "◀" : "◀   Back", Align::center);
  if (hitArea("lesson.next", next)) view.request("lesson.next");
  const std::uint32_t ground = page.asking() ? theme.raised : theme.text;
  const std::uint32_t words = page.asking() ? theme.text : theme.background;
  list.AddRectFilled(next.Min, next.Max, ImGui::IsItemHovered() ? mixed(ground, theme.line, 0.25f) : ground,
                     view.px(6));
  const float room = next.GetWidth() - view.px(50);
  // A long title may be cut off with dots, but a few letters of it would say nothing.
  const bool tight = room < view.px(100) && textWidth(view.fonts->bold, label) > room;
  paintFitted(view, list, view.fonts->bold, ImVec2(left + view.px(16), y), room, words,
              tight ? brief : label);
  paintText(list, view.fonts->small, ImVec2(next.Max.x - view.px(16), y), words, "▶", Align::right);
  if (left - last.Max.x > view.px(120))
    paintText(list, view.fonts->monoSmall, ImVec2(last.Max.x + view.px(10), y), theme.faint, "PgUp  PgDn");
}

/// The step's title, which stays while the text below scrolls.
void stepTitle(Rows& rows, const State& page) {
  const View& view = page.view;
  const std::string title = page.here.ended ? "What you learned" : page.at().title;
  const RichFonts fonts{view.fonts->hero, view.fonts->hero, view.fonts->monoHero, view.fonts->text,
                        view.theme->text};
  const RichText text{{{RichSpan::Kind::plain, title, nullptr}}};
  // A very long title is cut to one line, to leave space for the text.
  const float high = paintRichText(view, nullptr, fonts, text, ImVec2(0, 0), rows.width());
  if (high < 3 * lineHeight(fonts.plain))
    rows.rich(fonts, text);
  else
    rows.line(Type::hero, {{title}});
}

/// Fades lines that scroll out of view, so that none looks cut off.
void fadeEdges(const View& view, float width) {
  const ImVec2 from = ImGui::GetWindowPos();
  const float bottom = from.y + ImGui::GetWindowHeight(), high = view.px(18);
  const std::uint32_t ground = view.theme->panel, clear = ground & ~IM_COL32_A_MASK;
  Canvas list = *ImGui::GetWindowDrawList();
  const float above = std::min(high, ImGui::GetScrollY()),
              below = std::min(high, ImGui::GetScrollMaxY() - ImGui::GetScrollY());
  list.AddRectFilledMultiColor(from, ImVec2(from.x + width, from.y + above), ground, ground, clear, clear);
  list.AddRectFilledMultiColor(ImVec2(from.x, bottom - below), ImVec2(from.x + width, bottom), clear, clear,
                               ground, ground);
}

/// Everything from the step's text to its controls; at the end, what was learned.
void reading(Rows& rows, State& page) {
  View& view = page.view;
  const StepStudy* study = page.here.study.get();
  rows.problem(page.here.problem);
  if (!study && page.here.problem.empty()) rows.hint("Computing…");
  if (study && page.here.ended) return lessonEnd(rows, page, readingFonts(view, view.theme->text));
  if (study) {
    rows.rich(readingFonts(view, view.theme->text), richOrPlain(study->text), true);
    rows.space(8);
    changes(rows, page);
  }
  if (study && page.at().question && !study->options.empty()) {
    const GuessCount count = guessesOf(page.record.progress.lessons[page.here.lesson->id]);
    rows.section("PREDICT",
                 count.all > 0 ? fmt::format("{} of {} right so far", count.right, count.all) : "");
    // Show the answer as soon as it is given.
    if (std::exchange(page.here.showAnswer, false)) ImGui::SetScrollHereY(0.05f);
    questionPart(rows, page);
  }
  rows.space(8);
  controls(rows, page);
  rows.space(10);
  if (button(view, "lesson.take", "Use this scene  Shift+Enter", "", true)) view.request("lesson.take");
  rows.space(16);
}

}  // namespace

void lessonColumn(State& page, const ImRect& area) {
  View& view = page.view;
  fillSide(view, area);
  if (beginPanel(view, "lesson", area, 28, 8, ImGuiWindowFlags_NoScrollWithMouse)) {
    Rows rows(view);
    head(rows, page);
    rows.space(6);
    stepTitle(rows, page);
    rows.space(2);
    // The id contains the step, so that each step starts scrolled to its top.
    const std::string id = fmt::format("lesson.text.{}.{}", page.here.lesson->id, page.here.step);
    const float bottom = view.px(58), width = rows.width();
    const float high = area.Max.y - bottom - ImGui::GetCursorScreenPos().y;
    ImGui::SetNextWindowContentSize(ImVec2(width, 0));
    if (ImGui::BeginChild(id.c_str(), ImVec2(width + view.px(14), std::max(high, 1.0f)), false,
                          ImGuiWindowFlags_NoBackground)) {
      Rows text(view);
      reading(text, page);
      fadeEdges(view, width);
    }
    compat::endChild();
    backAndNext(page, ImRect(area.Min.x, area.Max.y - bottom, area.Max.x, area.Max.y));
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page

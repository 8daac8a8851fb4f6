#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/text/text_box.h"
#include "attention/core/extremes.h"

namespace headscope::app::lessons_page {

namespace {

const LessonProgress* progressOf(const State& page, const Lesson& lesson) {
  const auto found = page.record.progress.lessons.find(lesson.id);
  return found == page.record.progress.lessons.end() ? nullptr : &found->second;
}

bool isDone(const State& page, const Lesson& lesson) {
  const LessonProgress* progress = progressOf(page, lesson);
  return progress && std::all_of(lesson.steps.begin(), lesson.steps.end(),
                                 [&](const LessonStep& step) { return progress->seen.contains(step.id); });
}

/// The step at which a lesson continues; −1 if it wasn't started.
Index lastStep(const State& page, const Lesson& lesson) {
  const LessonProgress* progress = progressOf(page, lesson);
  if (!progress) return -1;
  const auto step = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                 [&](const LessonStep& each) { return each.id == progress->last; });
  return step == lesson.steps.end() ? -1 : step - lesson.steps.begin();
}

void cover(const State& page, std::size_t at, const ImRect& room) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  if (!page.list.covers[at] || page.list.covers[at]->size() == 0) {
    compat::rectOutline(list, room.Min, room.Max, view.theme->line, 0, 1);
    return;
  }
  const attention::Matrix& picture = *page.list.covers[at];
  CellStyle style;
  style.gap = std::max(1.0f, view.px(0.8f));
  style.high = std::max(attention::finiteRange(picture).second, 1e-6f);  // masked cells are lower than any
  paintCells(view, list, squareCells(room, picture.rows(), picture.cols()), picture, style);
}

void steps(const State& page, const Lesson& lesson, const ImRect& area) {
  const View& view = page.view;
  const LessonProgress* progress = progressOf(page, lesson);
  const Index last = lastStep(page, lesson), count = std::ssize(lesson.steps);
  const bool done = isDone(page, lesson);
  stepBar(view, area, count, view.px(count > 12 ? 2 : 4), [&](Index i, const ImRect&) {
    const bool seen = progress && progress->seen.contains(lesson.steps[asSize(i)].id);
    return !seen ? 0 : i == last && !done ? view.theme->text : view.theme->faint;
  });
}

std::string stateOf(const State& page, const Lesson& lesson) {
  const Index last = lastStep(page, lesson);
  std::string state = fmt::format("{} min", lesson.minutes);
  if (isDone(page, lesson))
    state += " · done";
  else if (last >= 0)
    state += fmt::format(" · step {} of {}", last + 1, lesson.steps.size());
  return state;
}

/// Draws a lesson on one line, for when all lessons must be visible.
void flatCard(const State& page, std::size_t at, const ImRect& area) {
  const View& view = page.view;
  const LessonEntry& entry = page.list.library->lessons[at];
  Canvas list = *ImGui::GetWindowDrawList();
  const float pad = view.px(4), side = area.GetHeight() - 2 * pad, y = area.GetCenter().y;
  const ImVec2 from(area.Min.x + pad, area.Min.y + pad);
  cover(page, at, ImRect(from, ImVec2(from.x + side, from.y + side)));
  float x = from.x + side + view.px(34);
  paintText(list, view.fonts->monoSmall, ImVec2(x - view.px(8), y), view.theme->secondary,
            entry.own ? "·" : std::to_string(entry.lesson->number), Align::right);
  const float right = area.Max.x - pad;
  const float taken = paintText(list, view.fonts->small, ImVec2(right, y), view.theme->secondary,
                                stateOf(page, *entry.lesson), Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), right - taken - view.px(10) - x, view.theme->text,
              entry.lesson->title);
}

/// Draws a lesson with its picture, topic and progress.
void card(State& page, std::size_t at, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LessonEntry& entry = page.list.library->lessons[at];
  const Lesson& lesson = *entry.lesson;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::string name = "lesson.card." + lesson.id;
  if (hitArea(name, area)) page.asked.lesson = lesson.id;
  const bool current = !view.figure && page.record.progress.last == lesson.id &&
                       lastStep(page, lesson) >= 0 && !isDone(page, lesson);
  if (ImGui::IsItemHovered() || current)
    list.AddRectFilled(area.Min, area.Max,
                       current ? theme.raised : mixed(theme.background, theme.raised, 0.6f), view.px(6));
  if (area.GetHeight() < view.px(100)) return flatCard(page, at, area);
  const float pad = view.px(10), side = std::min(area.GetHeight() - 2 * pad, area.GetWidth() * 0.38f);
  cover(page, at,
        ImRect(area.Min.x + pad, area.Min.y + pad, area.Min.x + pad + side, area.Min.y + pad + side));
  const float x = area.Min.x + 2 * pad + side + view.px(8), width = area.Max.x - pad - x;
  if (width < view.px(60)) return;
  float y = area.Min.y + pad + view.px(6);
  paintText(list, view.fonts->monoSmall, ImVec2(x, y), theme.secondary,
            entry.own ? "yours" : std::to_string(lesson.number));
  y += view.px(12);
  const float bottom = area.Max.y - pad - view.px(28);
  list.PushClipRect(ImVec2(x, y), ImVec2(x + width, bottom), true);
  y += paintParagraph(list, view.fonts->title, ImVec2(x, y), width, theme.text, lesson.title) + view.px(4);
  paintParagraph(list, view.fonts->text, ImVec2(x, y), width, theme.secondary, lesson.summary);
  list.PopClipRect();
  paintText(list, view.fonts->small, ImVec2(x, area.Max.y - pad - view.px(18)), theme.secondary,
            stateOf(page, lesson));
  const float bar = area.Max.y - pad - view.px(6);
  steps(page, lesson, ImRect(x, bar, x + width, bar + view.px(3)));
}

bool matches(const Lesson& lesson, const std::string& search) {
  return attention::foldCase(lesson.title + " " + lesson.summary).find(attention::foldCase(search)) !=
         std::string::npos;
}

/// The lessons found, with as many columns as fit, and files that aren't valid lessons.
void grid(State& page, const ImRect& area) {
  View& view = page.view;
  const auto& lessons = page.list.library->lessons;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lessons.size(); ++i)
    if (matches(*lessons[i].lesson, page.list.search)) found.push_back(i);
  // While presenting, all lessons are visible, because nobody scrolls in a lecture.
  const bool present = view.present;
  const int columns = std::clamp(static_cast<int>(area.GetWidth() / view.px(present ? 300 : 400)), 1, 4);
  const float gap = view.px(present ? 4 : 16), each = (area.GetWidth() + gap) / static_cast<float>(columns);
  const auto rows = static_cast<float>((std::ssize(found) + columns - 1) / columns);
  const float room = area.GetHeight() - gap * (rows - 1) - view.px(present ? 12 : 0);
  const float high = std::clamp(room / std::max(rows, 1.0f), view.px(present ? 32 : 132), view.px(208));
  for (int i = 0; i < std::ssize(found); ++i) {
    const ImVec2 from(area.Min.x + each * static_cast<float>(i % columns),
                      area.Min.y + (high + gap) * static_cast<float>(i / columns));
    card(page, found[asSize(i)], {from, ImVec2(from.x + each - gap, from.y + high)});
  }
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x, area.Min.y + (high + gap) * rows));
  Rows below(view);
  if (found.empty())
    below.hint(lessons.empty() ? "No lessons yet."
                               : "No lesson contains these words. Clear the search to see all lessons.");
  for (const std::string& problem : page.list.library->problems) below.problem(problem);
}

/// The lesson to continue with: the last one opened unless done, else the first that isn't done.
const LessonEntry* toGoOnWith(const State& page) {
  const auto& lessons = page.list.library->lessons;
  if (const LessonEntry* last = page.list.library->find(page.record.progress.last);
      last && !isDone(page, *last->lesson))
    return last;
  const auto next = std::find_if(lessons.begin(), lessons.end(),
                                 [&](const LessonEntry& entry) { return !isDone(page, *entry.lesson); });
  return next == lessons.end() ? nullptr : &*next;
}

/// Shows that lesson, with a picture of at most `room` pixels.
void goOn(Rows& rows, State& page, float room) {
  View& view = page.view;
  const auto& lessons = page.list.library->lessons;
  const LessonEntry* entry = toGoOnWith(page);
  if (!entry) {
    if (!lessons.empty()) rows.line(Type::hero, {{"All lessons are done."}});
    return;
  }
  const Lesson& lesson = *entry->lesson;
  const Index last = lastStep(page, lesson);
  rows.section(last >= 0 ? "CONTINUE" : "START");
  rows.paragraph(view.fonts->hero, lesson.title);
  const std::string where = last >= 0 ? fmt::format("step {} of {}, “{}”", last + 1, lesson.steps.size(),
                                                    lesson.steps[asSize(last)].title)
                                      : countedText(lesson.minutes, "minute") + ", " +
                                            countedText(std::ssize(lesson.steps), "step");
  rows.line(Type::title, {{where, view.theme->secondary}});
  rows.space(4);
  if (const float side = std::min(rows.width(), room); side > view.px(80)) {
    const ImRect place = rows.area("", side / view.unit);
    cover(page, asSize(entry - lessons.data()), ImRect(place.Min, ImVec2(place.Min.x + side, place.Max.y)));
    rows.space(12);
  }
  const std::string label = last >= 0 ? fmt::format("Continue with step {}  ▶", last + 1) : "Start  ▶";
  if (rows.primary("lesson.go_on", label)) page.asked.lesson = lesson.id;
  if (last <= 0) return;
  ImGui::SameLine(0, view.px(14));
  if (button(view, "lesson.from_start", "Restart", "", true)) {
    page.asked.lesson = lesson.id;
    page.asked.fromStart = true;
  }
}

/// The person's progress and answers, and what can be done with them.
void record(Rows& rows, State& page) {
  View& view = page.view;
  const auto& lessons = page.list.library->lessons;
  const auto done = std::count_if(lessons.begin(), lessons.end(),
                                  [&](const LessonEntry& entry) { return isDone(page, *entry.lesson); });
  GuessCount guesses;
  for (const auto& [id, progress] : page.record.progress.lessons) {
    const GuessCount count = guessesOf(progress);
    guesses = {guesses.right + count.right, guesses.all + count.all};
  }
  const auto line = [&](Index number, const std::string& words) {
    rows.line(Type::title, {{std::to_string(number) + "  "}, {words, view.theme->secondary}});
  };
  rows.space(20);
  line(done, fmt::format("of {} done", countedText(std::ssize(lessons), "lesson")));
  if (guesses.all > 0) line(guesses.right, fmt::format("of {} right", countedText(guesses.all, "answer")));
  if (const Index wrong = wrongGuessCount(page); wrong > 0)
    if (button(view, "lesson.wrong", fmt::format("Review {}  ›", countedText(wrong, "wrong answer")), "",
               true))
      chooseWrongGuess(page);
  rows.bottom(44);
  if (const bool back = page.record.canRemember(); back || page.record.progress != Progress{}) {
    const std::string action = back ? "lesson.remember" : "lesson.forget";
    if (button(view, action, back ? "Restore my progress" : "Reset my progress", "", true))
      view.request(action);
    ImGui::SameLine(0, view.px(10));
  }
  if (button(view, "lesson.open", "Open a lesson file…", "", true)) view.request("lesson.open");
}

}  // namespace

void lessonList(State& page, const Layout& layout) {
  View& view = page.view;
  const ImRect all(0, layout.center.Min.y, layout.center.Max.x, layout.center.Max.y);
  // A figure shows the lessons only, not the person's progress.
  const bool side = !view.figure && all.GetWidth() > view.px(900);
  const float column = side ? columnWidth(view, all) : 0;
  if (view.figure) view.fitFigure(ImVec2(view.px(1320), view.px(1180)));
  if (!page.list.library) {
    if (beginPanel(view, "lessons", all, 0, 0, 0))
      paintMessage(view, all, "Reading the lessons…", "This takes a moment.", view.theme->text);
    return endPanel();
  }
  if (side) {
    const ImRect area(all.Min.x, all.Min.y, all.Min.x + column, all.Max.y);
    fillSide(view, area);
    if (beginPanel(view, "lessons.side", area, 28, 12)) {
      Rows rows(view);
      rows.space(10);
      goOn(rows, page, area.GetHeight() - view.px(430));
      record(rows, page);
    }
    endPanel();
  }
  const ImRect area(all.Min.x + column, all.Min.y, all.Max.x, all.Max.y);
  if (beginPanel(view, "lessons", area, 0, 0, 0)) {
    const float pad = view.px(side ? 36 : 20);
    Canvas list = *ImGui::GetWindowDrawList();
    const float x = area.Min.x + pad, y = area.Min.y + view.px(36), right = area.Max.x - pad;
    Index minutes = 0;
    for (const LessonEntry& entry : page.list.library->lessons) minutes += entry.lesson->minutes;
    const float wide = paintText(list, view.fonts->hero, ImVec2(x, y), view.theme->text,
                                 fmt::format("{} lessons", page.list.library->lessons.size()));
    const float box = view.px(200), left = x + wide + view.px(18);
    paintFitted(view, list, view.fonts->text, ImVec2(left, y), right - box - view.px(16) - left,
                view.theme->secondary, fmt::format("{} minutes in all; take them in any order", minutes));
    ImGui::SetCursorScreenPos(ImVec2(right - box, y - view.px(15)));
    lineBox(view, "lesson.search_box", page.list.search, box, std::exchange(page.list.focusSearch, false),
            "Search  /");
    ImGui::SetCursorScreenPos(ImVec2(x - view.px(10), area.Min.y + view.px(70)));
    const ImVec2 size(area.GetWidth() - 2 * pad + view.px(20), area.GetHeight() - view.px(78));
    if (ImGui::BeginChild("lessons.grid", size, false, ImGuiWindowFlags_NoBackground)) {
      const ImVec2 from = ImGui::GetCursorScreenPos();
      grid(page, ImRect(from.x, from.y, from.x + size.x - view.px(8), from.y + size.y));
    }
    compat::endChild();
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page

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

void steps(const State& page, const Lesson& lesson, ImVec2 at, float width) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const LessonProgress* progress = progressOf(page, lesson);
  const Index last = lastStep(page, lesson);
  const auto count = static_cast<float>(lesson.steps.size());
  const float gap = view.px(count > 12 ? 2 : 4), wide = (width - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const float x = at.x + (wide + gap) * static_cast<float>(i);
    const ImVec2 from(x, at.y), to(x + wide, at.y + view.px(3));
    const bool seen = progress && progress->seen.contains(lesson.steps[i].id);
    if (seen)
      list.AddRectFilled(
          from, to,
          static_cast<Index>(i) == last && !isDone(page, lesson) ? view.theme->text : view.theme->faint);
    else
      compat::rectOutline(list, from, to, view.theme->faint, 0, 1);
  }
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
  steps(page, lesson, ImVec2(x, area.Max.y - pad - view.px(6)), width);
}

bool matches(const Lesson& lesson, const std::string& search) {
  return attention::foldCase(lesson.title + " " + lesson.summary).find(attention::foldCase(search)) !=
         std::string::npos;
}

/// Lists files that aren't valid lessons, with the reasons.
void problems(const State& page, ImVec2 at, float width) {
  const View& view = page.view;
  float y = at.y;
  for (const std::string& problem : page.list.library->problems)
    y += paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(at.x, y), width,
                        view.theme->warning, problem) +
         view.px(4);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, y - at.y + 1));
}

/// The grid of lessons, with as many columns as fit.
void grid(State& page, const ImRect& area) {
  View& view = page.view;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < page.list.library->lessons.size(); ++i)
    if (matches(*page.list.library->lessons[i].lesson, page.list.search)) found.push_back(i);
  Canvas list = *ImGui::GetWindowDrawList();
  if (found.empty()) {
    paintText(list, view.fonts->text, ImVec2(area.Min.x, area.Min.y + view.px(20)), view.theme->secondary,
              page.list.library->lessons.empty()
                  ? "No lessons yet."
                  : "No lesson contains these words. Clear the search to see all "
                    "lessons.");
    problems(page, ImVec2(area.Min.x, area.Min.y + view.px(44)), area.GetWidth());
    return;
  }
  // While presenting, all lessons are visible, because nobody scrolls in a lecture.
  const int columns = std::clamp(static_cast<int>(area.GetWidth() / view.px(view.present ? 300 : 400)), 1, 4);
  const float gap = view.px(view.present ? 4 : 16), least = view.px(view.present ? 32 : 132);
  const float width = (area.GetWidth() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const auto rows = static_cast<float>((found.size() + static_cast<std::size_t>(columns) - 1) /
                                       static_cast<std::size_t>(columns));
  const float room = area.GetHeight() - gap * (rows - 1) - view.px(view.present ? 12 : 0);
  const float high = std::clamp(room / rows, least, view.px(208));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto row = static_cast<float>(i / static_cast<std::size_t>(columns));
    const auto column = static_cast<float>(i % static_cast<std::size_t>(columns));
    const ImVec2 from(area.Min.x + (width + gap) * column, area.Min.y + (high + gap) * row);
    card(page, found[i], {from, ImVec2(from.x + width, from.y + high)});
  }
  problems(page, ImVec2(area.Min.x, area.Min.y + (high + gap) * rows), area.GetWidth());
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

float goOn(State& page, ImVec2 at, float width, float pictureRoom) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const LessonEntry* entry = toGoOnWith(page);
  float y = at.y;
  if (!entry) {
    if (page.list.library->lessons.empty()) return 0;
    paintText(list, view.fonts->hero, ImVec2(at.x, y + view.px(14)), theme.text, "All lessons are done.");
    return view.px(40);
  }
  const Lesson& lesson = *entry->lesson;
  const Index last = lastStep(page, lesson);
  paintSpaced(list, view.fonts->smallBold, ImVec2(at.x, y), theme.secondary, last >= 0 ? "CONTINUE" : "START",
              view.px(1.4f));
  y += view.px(20);
  y += paintParagraph(list, view.fonts->hero, ImVec2(at.x, y), width, theme.text, lesson.title) + view.px(4);
  const std::string where = last >= 0 ? fmt::format("step {} of {}, “{}”", last + 1, lesson.steps.size(),
                                                    lesson.steps[static_cast<std::size_t>(last)].title)
                                      : countedText(lesson.minutes, "minute") + ", " +
                                            countedText(std::ssize(lesson.steps), "step");
  paintFitted(view, list, view.fonts->title, ImVec2(at.x, y + view.px(10)), width, theme.secondary, where);
  y += view.px(34);
  const float side = std::min(width, pictureRoom);
  if (side > view.px(80)) {
    cover(page, static_cast<std::size_t>(entry - page.list.library->lessons.data()),
          ImRect(at.x, y, at.x + side, y + side));
    y += side + view.px(20);
  }
  const std::string label = last >= 0 ? fmt::format("Continue with step {}  ▶", last + 1) : "Start  ▶";
  const float wide = textWidth(view.fonts->bold, label) + view.px(44), high = view.px(36);
  if (hitArea("lesson.go_on", ImVec2(at.x, y), ImVec2(wide, high))) page.asked.lesson = lesson.id;
  list.AddRectFilled(ImVec2(at.x, y), ImVec2(at.x + wide, y + high),
                     ImGui::IsItemHovered() ? mixed(theme.text, theme.line, 0.25f) : theme.text, view.px(6));
  paintText(list, view.fonts->bold, ImVec2(at.x + wide / 2, y + high / 2), theme.background, label,
            Align::center);
  if (last > 0) {
    ImGui::SetCursorScreenPos(ImVec2(at.x + wide + view.px(14), y + view.px(4)));
    if (button(view, "lesson.from_start", "Restart", "", true)) {
      page.asked.lesson = lesson.id;
      page.asked.fromStart = true;
    }
  }
  return y + view.px(52) - at.y;
}

/// Shows the person's progress and answers, and what can be done with them.
void record(State& page, const ImRect& area, float top) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float pad = view.px(28), x = area.Min.x + pad;
  float y = top + view.px(20);
  const float bottom = area.Max.y - view.px(64);
  const auto& lessons = page.list.library->lessons;
  const auto done = std::count_if(lessons.begin(), lessons.end(),
                                  [&](const LessonEntry& entry) { return isDone(page, *entry.lesson); });
  GuessCount guesses;
  for (const auto& [id, progress] : page.record.progress.lessons) {
    const GuessCount count = guessesOf(progress);
    guesses = {guesses.right + count.right, guesses.all + count.all};
  }
  const auto line = [&](Index number, const std::string& words) {
    if (y > bottom) return;
    const float wide = paintText(list, view.fonts->hero, ImVec2(x, y), theme.text, std::to_string(number));
    paintText(list, view.fonts->title, ImVec2(x + wide + view.px(10), y), theme.secondary, words);
    y += view.px(34);
  };
  line(done, fmt::format("of {} done", countedText(std::ssize(lessons), "lesson")));
  if (guesses.all > 0) line(guesses.right, fmt::format("of {} right", countedText(guesses.all, "answer")));
  const Index wrong = wrongGuessCount(page);
  if (wrong > 0 && y < bottom) {
    ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(12)));
    if (button(view, "lesson.wrong", fmt::format("Review {}  ›", countedText(wrong, "wrong answer")), "",
               true))
      chooseWrongGuess(page);
  }
  ImGui::SetCursorScreenPos(ImVec2(x - view.px(8), area.Max.y - view.px(44)));
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
    if (beginPanel(view, "lessons.side", area, 0, 0, 0)) {
      const float pad = view.px(28);
      const float room = area.GetHeight() - view.px(420);
      const float high =
          goOn(page, ImVec2(area.Min.x + pad, area.Min.y + view.px(36)), column - 2 * pad, room);
      record(page, area, area.Min.y + view.px(36) + high);
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

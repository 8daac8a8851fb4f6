#include "app/pages/lessons/lesson_list.h"

#include <fmt/core.h>

#include <iterator>
#include <sstream>

#include "app/widgets/controls.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::lessons_page {

namespace {

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
  std::string words = fmt::format("{} of {} done", done, countedText(std::ssize(lessons), "lesson"));
  if (guesses.all > 0)
    words += fmt::format(" · {} of {} right", guesses.right, countedText(guesses.all, "answer"));
  if (page.record.progress != Progress{}) rows.line(Type::text, {{words, view.theme->secondary}});
  if (const Index wrong = wrongGuessCount(page); wrong > 0)
    if (button(view, "lesson.wrong", fmt::format("Review {}  ›", countedText(wrong, "wrong answer")), "",
               true))
      chooseWrongGuess(page);
}

/// Files of the person's own, and their progress.
void files(Rows& rows, const State& page) {
  std::vector<Rows::Button> buttons{{"lesson.open", "Open a lesson…", "lesson.open", true}};
  if (page.record.canRemember())
    buttons.push_back({"lesson.remember", "Restore my progress", "lesson.remember", true});
  else if (page.record.progress != Progress{})
    buttons.push_back({"lesson.forget", "Reset my progress", "lesson.forget", true});
  rows.bottom(44);
  rows.actions(buttons);
}

/// The page's title, what it has, and the search. Returns their lower end.
float heading(State& page, const ImRect& area) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(30), box = view.figure ? 0 : view.px(200);
  Index minutes = 0;
  for (const LessonEntry& entry : page.list.library->lessons) minutes += entry.lesson->minutes;
  const auto lessons = std::ssize(page.list.library->lessons);
  const float wide =
      paintText(list, view.fonts->hero, ImVec2(area.Min.x, y), view.theme->text, "Learn") + view.px(18);
  const float room = area.Max.x - box - view.px(16) - area.Min.x - wide;
  const std::string facts = fmt::format("{}, {} minutes in all", countedText(lessons, "lesson"), minutes);
  paintText(list, view.fonts->text, ImVec2(area.Min.x + wide, y), view.theme->secondary,
            firstFitting(view.fonts->text,
                         {fmt::format("{}  ·  {} talks to give", facts, kReadyTalks.size()), facts,
                          countedText(lessons, "lesson")},
                         room));
  if (box > 0) {
    ImGui::SetCursorScreenPos(ImVec2(area.Max.x - box, y - view.px(15)));
    lineBox(view, "lesson.search_box", page.list.search, box, std::exchange(page.list.focusSearch, false),
            "Search  /");
  }
  return area.Min.y + view.px(56);
}

/// Lessons and talks, from top to bottom; scrolls if they don't fit.
void middle(State& page, const ImRect& area) {
  View& view = page.view;
  const bool poster = view.present || view.figure.has_value();
  const bool searching = !page.list.search.empty();
  const float width = area.GetWidth() - view.px(12);
  // Talks take the room that rows of lessons of a readable height leave.
  const float rest = area.GetHeight() - view.px(430);
  const float talks = poster || searching ? 0 : std::clamp(rest, view.px(146), view.px(300));
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImRect room(from.x, from.y, from.x + width, from.y + area.GetHeight() - talks - view.px(8));
  const float bottom = lessonPath(page, room);
  ImGui::SetCursorScreenPos(ImVec2(from.x, bottom + view.px(poster ? 0 : 8)));
  Rows below(view);
  if (bottom == room.Min.y)
    below.hint(page.list.library->lessons.empty()
                   ? "No lessons yet."
                   : "No lesson contains these words. Clear the search to see all lessons.");
  for (const std::string& problem : page.list.library->problems) below.problem(problem);
  if (talks == 0) return;
  const float top = std::max(ImGui::GetCursorScreenPos().y, from.y + area.GetHeight() - talks);
  finishedTalks(page, ImRect(from.x, top, from.x + width, top + talks));
  ImGui::SetCursorScreenPos(ImVec2(from.x, top + talks - 1));
  ImGui::Dummy(ImVec2(1, 1));
}

/// The first lesson's sentence: its last word in the colour of queries, and every other word as blue as the
/// last one reads it in the lesson's picture. Nothing unless the picture has a row for each word.
bool startSentence(Rows& rows, const State& page, std::size_t at) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const auto& cover = page.list.covers[at];
  std::istringstream text(*page.list.library->lessons[at].lesson->opening.setup.input.text);
  const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  const auto count = static_cast<Index>(words.size());
  if (!cover || count < 2 || cover->rows() != count || cover->cols() != count) return false;
  ImFont* const font = view.fonts->monoTitle;
  const float space = textWidth(font, " "), line = lineHeight(font) + view.px(4);
  std::vector<ImVec2> places;
  ImVec2 next(0, line / 2);
  for (const std::string& word : words) {
    const float wide = textWidth(font, word);
    if (next.x > 0 && next.x + wide > rows.width()) next = ImVec2(0, next.y + line);
    places.push_back(next);
    next.x += wide + space;
  }
  const ImRect area = rows.area("lesson.start_sentence", (next.y + line / 2) / view.unit);
  const Canvas list = *ImGui::GetWindowDrawList();
  const Index last = count - 1, most = strongestKey(cover->row(last), last);
  for (Index i = 0; i < count; ++i)
    paintText(list, font, area.Min + places[asSize(i)],
              i == last ? theme.query
                        : mixed(theme.secondary, theme.key, std::clamp((*cover)(last, i), 0.0f, 1.0f)),
              words[asSize(i)]);
  if (most >= 0)
    rows.hint(fmt::format("A head of a trained model: after the last “{}” it reads “{}” with {}.",
                          words.back(), words[asSize(most)], fixedText(double{(*cover)(last, most)}, 3)));
  return true;
}

}  // namespace

void nextLesson(Rows& rows, State& page, float room) {
  View& view = page.view;
  const auto& lessons = page.list.library->lessons;
  const LessonEntry* entry = toGoOnWith(page);
  if (!entry) {
    if (!lessons.empty()) rows.line(Type::hero, {{"All lessons are done."}});
    return;
  }
  const Lesson& lesson = *entry->lesson;
  const Index last = lastStep(page, lesson);
  const bool first = page.record.progress == Progress{};
  rows.paragraph(view.fonts->hero, first ? "New to attention?" : lesson.title);
  rows.line(Type::text, {{first       ? fmt::format("Start here  ·  {} min", lesson.minutes)
                          : last >= 0 ? fmt::format("step {} of {}, “{}”", last + 1, lesson.steps.size(),
                                                    lesson.steps[asSize(last)].title)
                                      : fmt::format("next  ·  {} min", lesson.minutes),
                          view.theme->secondary}});
  rows.space(4);
  const auto at = asSize(entry - lessons.data());
  if (first) {
    rows.paragraph(view.fonts->text, "See how a sentence becomes numbers, and numbers the next word.");
    rows.space(4);
  }
  if (first && startSentence(rows, page, at)) {
    rows.space(8);
  } else if (const float side = std::min(rows.width(), room); side > view.px(80)) {
    const ImRect place = rows.area("", side / view.unit);
    paintCover(page, at, ImRect(place.Min, ImVec2(place.Min.x + side, place.Max.y)));
    rows.space(8);
  }
  if (first)
    for (std::size_t i = 0; i < lesson.steps.size(); ++i)
      rows.line(Type::text, {{fmt::format("{}   ", i + 1), view.theme->faint, view.fonts->monoSmall},
                             {lesson.steps[i].title}});
  rows.space(4);
  const std::string label = last >= 0 ? fmt::format("Continue with step {}  ▶", last + 1) : "Start  ▶";
  if (rows.primary("lesson.go_on", label)) page.asked.lesson = lesson.id;
  if (last <= 0) return;
  ImGui::SameLine(0, view.px(14));
  if (button(view, "lesson.from_start", "Restart", "", true)) {
    page.asked.lesson = lesson.id;
    page.asked.fromStart = true;
  }
}

void lessonEnd(Rows& rows, State& page, const RichFonts& fonts) {
  rows.rich(fonts, richOrPlain(page.here.study->learned));
  std::vector<std::size_t> path;
  for (const PathPart& part : pathParts(*page.list.library))
    path.insert(path.end(), part.lessons.begin(), part.lessons.end());
  const auto& lessons = page.list.library->lessons;
  const auto here =
      std::ranges::find(path, page.here.lesson, [&](std::size_t at) { return lessons[at].lesson; });
  if (here == path.end() || here + 1 == path.end()) return;
  const Lesson& next = *lessons[*(here + 1)].lesson;
  const std::string words = fmt::format("{}, {} min", next.title, next.minutes);
  rows.space(12);
  if (page.view.present) return rows.line(Type::text, {{"Next: " + words, page.view.theme->secondary}});
  rows.section("WHAT FOLLOWS", "");
  if (button(page.view, "lesson.follow", words + "  ▶", "", true)) page.asked.lesson = next.id;
}

void lessonList(State& page, const Scene& own, const Layout& layout) {
  View& view = page.view;
  const ImRect all(0, layout.center.Min.y, layout.center.Max.x, layout.center.Max.y);
  // A poster has the lessons only, not the person's progress.
  const bool side = !view.figure && !view.present && all.GetWidth() > view.px(900);
  const float column = side ? std::min(view.px(330), all.GetWidth() * 0.27f) : 0;
  if (view.figure) view.fitFigure(ImVec2(view.px(1320), view.px(760)));
  if (!page.list.library) {
    if (beginPanel(view, "lessons", all, 0, 0, 0))
      paintMessage(view, all, "Reading the lessons…", "This takes a moment.", view.theme->text);
    return endPanel();
  }
  if (side) {
    const ImRect area(all.Min.x, all.Min.y, all.Min.x + column, all.Max.y);
    fillSide(view, area);
    if (beginPanel(view, "lessons.side", area, 24, 10)) {
      Rows rows(view);
      rows.space(6);
      nextLesson(rows, page, area.GetHeight() - view.px(480));
      record(rows, page);
      ownTalk(rows, page, own);
      files(rows, page);
    }
    endPanel();
  }
  const float pad = view.px(side ? 28 : 20);
  const ImRect area(all.Min.x + column + pad, all.Min.y, all.Max.x - pad + view.px(12), all.Max.y);
  if (beginPanel(view, "lessons", ImRect(area.Min, all.Max), 0, 0, 0)) {
    const float top = heading(page, ImRect(area.Min, ImVec2(area.Max.x - view.px(12), area.Max.y)));
    ImGui::SetCursorScreenPos(ImVec2(area.Min.x, top));
    const ImRect rest(area.Min.x, top, area.Max.x, area.Max.y);
    if (ImGui::BeginChild("lessons.grid", rest.GetSize(), false, ImGuiWindowFlags_NoBackground))
      middle(page, rest);
    compat::endChild();
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page

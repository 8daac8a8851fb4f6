// The person's moves through the lessons.

#include <algorithm>
#include <string>
#include <utility>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/configuration.h"

namespace headscope::app::lessons_page {

namespace {

void saveProgress(PageServices& services, const State& page) {
  if (!services.view.showTimings) return;
  const std::filesystem::path folder = stateFolder();
  if (folder.empty()) return;
  const std::filesystem::path path = progressPath(folder);
  services.files.keep(path, [path, text = formatProgress(page.record.progress), file = page.record.file] {
    return file->write(path, text);
  });
}

void goTo(LessonCursor& at, Index step) {
  at.step = step;
  at.guess = -1;
  at.answered = false;
}

Index lastStep(const State& page) {
  return static_cast<Index>(page.here.lesson->steps.size()) - 1;
}

void answer(PageServices& services, State& page, LessonCursor& at) {
  at.answered = page.here.showAnswer = true;
  const StepStudy* study = page.here.study.get();
  if (!study || at.guess < 0 || at.guess >= std::ssize(study->options)) return;
  const bool right = study->options[static_cast<std::size_t>(at.guess)].holds;
  page.record.progress.lessons[at.lesson].guesses[page.at().id] = {static_cast<int>(at.guess), right};
  saveProgress(services, page);
}

void moveOn(PageServices& services, State& page, LessonCursor& at) {
  if (page.explains()) {
    page.here.put = true;
    return;
  }
  if (page.asking()) return answer(services, page, at);
  if (at.step < lastStep(page)) return goTo(at, at.step + 1);
  at = {};  // the lesson is done: back to the list
}

/// Exactly undoes moveOn().
void moveBack(State& page, LessonCursor& at) {
  if (page.at().question && at.answered) {
    at.answered = false;
    page.here.put = true;
    return;
  }
  if (page.view.present && page.asking() && !page.explains()) {
    page.here.put = false;
    at.guess = -1;
    return;
  }
  if (at.step == 0) return;
  goTo(at, at.step - 1);
  at.answered = page.here.lesson->steps[static_cast<std::size_t>(at.step)].question.has_value();
}

/// Opens the lesson that the person asked for, where they left it.
void openAsked(State& page, LessonCursor& at) {
  if (page.asked.first && page.list.library && !page.list.library->lessons.empty()) {
    // The offer refers to the heads on screen, which lesson 1 explains.
    const auto& all = page.list.library->lessons;
    const auto first = std::find_if(all.begin(), all.end(),
                                    [](const LessonEntry& entry) { return entry.lesson->number == 1; });
    page.asked.lesson = (first == all.end() ? all.front() : *first).lesson->id;
    page.asked.first = false;
  }
  std::string id = std::exchange(page.asked.lesson, {});
  if (id.empty()) return;
  const auto known = page.record.progress.lessons.find(id);
  at = {std::move(id), 0, -1, false};
  if (const LessonEntry* entry = page.list.library ? page.list.library->find(at.lesson) : nullptr;
      entry && known != page.record.progress.lessons.end() && !page.asked.fromStart) {
    const auto& steps = entry->lesson->steps;
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&](const LessonStep& each) { return each.id == known->second.last; });
    if (step != steps.end()) goTo(at, step - steps.begin());
  }
  page.asked.fromStart = false;
}

std::vector<Action> movingActions(State& page) {
  const auto moves = [&page](Move move) { return [&page, move](Scene&) { page.asked.move = move; }; };
  return {
      {.id = "lesson.next",
       .name = "Next answer or step",
       .shortcut = {Key::pageDown},
       .repeats = true,
       .run = moves(Move::next)},
      {.id = "lesson.back",
       .name = "Previous answer or step",
       .shortcut = {Key::pageUp},
       .repeats = true,
       .run = moves(Move::back)},
      {.id = "lesson.first", .name = "First step", .shortcut = {Key::home}, .run = moves(Move::first)},
      {.id = "lesson.last", .name = "Last step", .shortcut = {Key::end}, .run = moves(Move::last)},
      {.id = "lesson.restore",
       .name = "Reset the step",
       .shortcut = {Key::escape},
       .words = "reset",
       .run =
           [&page](Scene&) {
             View& view = page.view;
             if (page.here.lesson && page.stage.changed)
               page.asked.move = Move::restore;
             else if (view.present)
               view.present = false;
             else
               page.asked.move = Move::list;
           }},
      {.id = "lesson.list",
       .name = "Show all lessons",
       .words = "tutorial course help",
       .run = moves(Move::list)},
      {.id = "lesson.take",
       .name = "Open the lesson's scene on its page",
       .shortcut = {Key::enter, {.shift = true}},
       .run = [&page](Scene&) { page.asked.take = true; }},
      {.id = "lesson.search",
       .name = "Search the lessons",
       .shortcut = {Key::slash},
       .run = [&page](Scene&) { page.list.focusSearch = !page.here.lesson; }},
      {.id = "lesson.steps",
       .name = "Go to a step",
       .shortcut = {static_cast<Key>('G')},
       .run =
           [&page](Scene&) {
             if (page.here.lesson) page.view.dialog = stepChoice(page);
           }},
  };
}

std::vector<Action> progressActions(PageServices& services, State& page) {
  return {
      {.id = "lesson.forget",
       .name = "Reset progress in all lessons",
       .words = "reset",
       .run =
           [&services, &page](Scene&) {
             if (page.record.progress != Progress{})
               page.record.forgotten = std::exchange(page.record.progress, {});
             saveProgress(services, page);
             page.view.say("Progress and answers are reset.");
           }},
      {.id = "lesson.remember",
       .name = "Restore reset progress",
       .run =
           [&services, &page](Scene&) {
             const bool can = page.record.canRemember();
             if (can) page.record.progress = std::exchange(page.record.forgotten, {});
             saveProgress(services, page);
             page.view.say(
                 can ? "Progress and answers are restored."
                     : "No progress to restore. You can restore it only until you open another lesson.");
           }},
      {.id = "lesson.begin",
       .name = "Start the first lesson",
       .run =
           [&page](Scene&) {
             page.view.preferences.lessonOffered = true;
             page.asked.first = page.asked.fromStart = true;
             page.view.request("page.lessons");
           }},
      {.id = "lesson.decline",
       .name = "Don't offer the first lesson",
       .run = [&page](Scene&) { page.view.preferences.lessonOffered = true; }},
  };
}

std::vector<Action> answerActions(State& page) {
  std::vector<Action> actions;
  // A to D choose an option while a question is open; otherwise they run their usual actions.
  constexpr const char* kElse[] = {"", "stage.blank", "mask.causal", "decode.toggle"};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string letter = optionLetter(i);
    actions.push_back({.id = "lesson.guess." + letter,
                       .name = "Answer " + letter,
                       .shortcut = {static_cast<Key>('A' + static_cast<int>(i))},
                       .run = [&page, i, otherwise = std::string(kElse[i])](Scene&) {
                         const bool asked = page.asking() && i < page.at().question->options.size();
                         if (asked)
                           page.asked.option = static_cast<Index>(i);
                         else if (!otherwise.empty())
                           page.view.request(otherwise);
                       }});
  }
  return actions;
}

}  // namespace

void applyMoves(PageServices& services, State& page, LessonCursor& at) {
  openAsked(page, at);
  if (const auto step = std::exchange(page.asked.step, std::nullopt)) goTo(at, *step);
  if (const auto option = std::exchange(page.asked.option, std::nullopt); option && page.asking()) {
    at.guess = *option;
    // In a lecture, hands are counted first, and the answer is shown once everyone has voted.
    if (!page.view.present) answer(services, page, at);
  }
  const auto move = std::exchange(page.asked.move, std::nullopt);
  if (move == Move::list) at = {};
  if (!move || !page.here.lesson) return;
  if (*move == Move::next) moveOn(services, page, at);
  if (*move == Move::back) moveBack(page, at);
  if (*move == Move::first) goTo(at, 0);
  if (*move == Move::last) goTo(at, lastStep(page));
}

void remember(PageServices& services, State& page) {
  const std::string& lesson = page.here.lesson->id;
  LessonProgress& progress = page.record.progress.lessons[lesson];
  const std::string& id = page.at().id;
  const bool known = progress.seen.contains(id) && progress.last == id && page.record.progress.last == lesson;
  progress.seen.insert(id);
  progress.last = id;
  page.record.progress.last = lesson;
  if (!known) saveProgress(services, page);
  // A person who has opened a lesson doesn't need the offer.
  if (!std::exchange(services.view.preferences.lessonOffered, true)) services.keepPreferences();
}

std::vector<Action> stepActions(PageServices& services, State& page) {
  std::vector<Action> actions = movingActions(page);
  for (auto more : {progressActions(services, page), answerActions(page)})
    actions.insert(actions.end(), more.begin(), more.end());
  return actions;
}

}  // namespace headscope::app::lessons_page

#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"

namespace headscope::app::lessons_page {

// The person's moves through the lessons.

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

void goTo(State& page, LessonCursor& at, Index step) {
  page.here.ended = false;
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
  const bool right = study->options[asSize(at.guess)].holds;
  page.record.progress.lessons[at.lesson].guesses[page.at().id] = {static_cast<int>(at.guess), right};
  saveProgress(services, page);
}

void moveOn(PageServices& services, State& page, LessonCursor& at) {
  if (page.explains()) {
    page.here.put = true;
    return;
  }
  if (page.asking()) return answer(services, page, at);
  if (at.step < lastStep(page)) return goTo(page, at, at.step + 1);
  if (!page.here.ended && !page.here.lesson->learned.empty()) {
    page.here.ended = true;
    return;
  }
  at = {};  // the lesson is done: back to the list
}

/// Exactly undoes moveOn().
void moveBack(State& page, LessonCursor& at) {
  if (std::exchange(page.here.ended, false)) return;
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
  goTo(page, at, at.step - 1);
  at.answered = page.here.lesson->steps[asSize(at.step)].question.has_value();
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
    if (step != steps.end()) goTo(page, at, step - steps.begin());
  }
  page.asked.fromStart = false;
}

void addMoves(ActionList& to, State& page) {
  const auto moves = [&page](Move move) { return [&page, move](Scene&) { page.asked.move = move; }; };
  to.add({.id = "lesson.next", .name = "Next answer or step", .shortcut = {Key::pageDown}, .repeats = true},
         moves(Move::next));
  to.add({.id = "lesson.back", .name = "Previous answer or step", .shortcut = {Key::pageUp}, .repeats = true},
         moves(Move::back));
  to.add({.id = "lesson.first", .name = "First step", .shortcut = {Key::home}}, moves(Move::first));
  to.add({.id = "lesson.last", .name = "Last step", .shortcut = {Key::end}}, moves(Move::last));
  to.add({.id = "lesson.restore", .name = "Reset the step", .shortcut = {Key::escape}, .words = "reset"},
         [&page](Scene&) {
           if (page.here.lesson && page.stage.changed)
             page.asked.move = Move::restore;
           else if (page.view.present)
             page.view.present = false;
           else
             page.asked.move = Move::list;
         });
  to.add({.id = "lesson.list", .name = "Show all lessons", .words = "tutorial course help"},
         moves(Move::list));
  to.add({.id = "lesson.take",
          .name = "Use the step's scene as your own",
          .shortcut = {Key::enter, {.shift = true}}},
         [&page](Scene&) { page.asked.take = true; });
  to.add({.id = "lesson.search", .name = "Search the lessons", .shortcut = {Key::slash}},
         [&page](Scene&) { page.list.focusSearch = !page.here.lesson; });
  to.add({.id = "lesson.steps", .name = "Go to a step", .shortcut = {static_cast<Key>('G')}},
         [&page](Scene&) {
           if (page.here.lesson) page.view.dialog = stepChoice(page);
         });
}

void addProgress(ActionList& to, PageServices& services, State& page) {
  to.add({.id = "lesson.forget", .name = "Reset progress in all lessons", .words = "reset"},
         [&services, &page](Scene&) {
           if (page.record.progress != Progress{})
             page.record.forgotten = std::exchange(page.record.progress, {});
           saveProgress(services, page);
           page.view.say("Progress and answers are reset.");
         });
  to.add({.id = "lesson.remember", .name = "Restore reset progress"}, [&services, &page](Scene&) {
    const bool can = page.record.canRemember();
    if (can) page.record.progress = std::exchange(page.record.forgotten, {});
    saveProgress(services, page);
    page.view.say(can ? "Progress and answers are restored."
                      : "No progress to restore. You can restore it only until you open another lesson.");
  });
  to.add({.id = "lesson.begin", .name = "Start the first lesson"}, [&services, &page](Scene&) {
    page.view.preferences.lessonOffered = true;
    page.asked.first = page.asked.fromStart = true;
    showLessons(services);
  });
  to.add({.id = "lesson.decline", .name = "Don't offer the first lesson"},
         [&page](Scene&) { page.view.preferences.lessonOffered = true; });
}

/// A to D choose an option while a question is open; otherwise they run their usual actions.
void addAnswers(ActionList& to, State& page) {
  constexpr const char* kElse[] = {"", "stage.blank", "mask.causal", "decode.toggle"};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string letter = optionLetter(i);
    to.add({.id = "lesson.guess." + letter,
            .name = "Answer " + letter,
            .shortcut = {static_cast<Key>('A' + static_cast<int>(i))}},
           [&page, i, otherwise = std::string(kElse[i])](Scene&) {
             if (page.asking() && i < page.at().question->options.size())
               page.asked.option = static_cast<Index>(i);
             else if (!otherwise.empty())
               page.view.request(otherwise);
           });
  }
}

}  // namespace

void applyMoves(PageServices& services, State& page, LessonCursor& at) {
  openAsked(page, at);
  if (const auto step = std::exchange(page.asked.step, std::nullopt)) goTo(page, at, *step);
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
  if (*move == Move::first) goTo(page, at, 0);
  if (*move == Move::last) goTo(page, at, lastStep(page));
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

void showLessons(PageServices& services) {
  services.own()->scene().cursor.page = "lessons";
}

std::vector<Action> lessonPlaces(PageServices& services, State& page) {
  std::vector<Action> places;
  if (!page.list.library) return places;
  for (const LessonEntry& entry : page.list.library->lessons) {
    const Lesson& lesson = *entry.lesson;
    const auto add = [&](std::string id, std::string name, std::string section, std::string about,
                         std::optional<Index> step) {
      places.push_back({.id = std::move(id),
                        .name = std::move(name),
                        .section = std::move(section),
                        .run =
                            [&services, &page, id = lesson.id, step](Scene&) {
                              page.asked.lesson = id;
                              page.asked.step = step;
                              showLessons(services);
                            },
                        .kind = ActionKind::lesson,
                        .about = std::move(about)});
    };
    add("lessons." + lesson.id, lesson.title, fmt::format("lesson, {} min", lesson.minutes), lesson.summary,
        std::nullopt);
    for (std::size_t i = 0; i < lesson.steps.size(); ++i)
      add(fmt::format("lessons.{}#{}", lesson.id, lesson.steps[i].id), lesson.steps[i].title,
          fmt::format("lesson, step {} of {}", i + 1, lesson.steps.size()), "In the lesson " + lesson.title,
          static_cast<Index>(i));
  }
  return places;
}

void addStepActions(ActionList& to, PageServices& services, State& page) {
  addMoves(to, page);
  addProgress(to, services, page);
  addAnswers(to, page);
}

}  // namespace headscope::app::lessons_page

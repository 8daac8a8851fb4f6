// Page's moves through a lesson.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/configuration.h"

namespace headscope::app::lessons_page {

namespace {

/// "step 3 of Why divide by √d".
std::string stepPlace(const Lesson& lesson, Index step) {
  return fmt::format("step {} of {}", step + 1, lesson.title);
}

}  // namespace

Scene stageScene(const Lesson& lesson, const LessonStep& step, bool after) {
  if (after) return step.scene;
  Scene scene = sceneBefore(lesson, step);
  // The mistake shown may itself be the answer.
  const attention::Mistake mistake = scene.cursor.lab.mistake;
  scene.cursor = step.scene.cursor;
  scene.cursor.lab.mistake = mistake;
  return scene;
}

void Page::arrange(Document& own) {
  if (std::exchange(takes_, false)) takeToPage(own);
  applyMoves(own.scene());
  place(own.scene().cursor.lesson);
  page_.stage.shown = services_.layer.snapshot();
  watchFile();
  std::vector<float>& guessed = services_.view.guessedRow;
  guessed.clear();
  if (!page_.here.study || !page_.here.answered || page_.here.guess < 0) return;
  const OptionStudy& option = page_.here.study->options[static_cast<std::size_t>(page_.here.guess)];
  if (option.picture.rows() == 1)
    guessed.assign(option.picture.data(), option.picture.data() + option.picture.size());
}

void Page::applyMoves(Scene& own) {
  LessonCursor& at = own.cursor.lesson;
  if (page_.asked.first && page_.list.library && !page_.list.library->lessons.empty()) {
    // The offer refers to the heads on screen, which lesson 1 explains.
    const auto& all = page_.list.library->lessons;
    const auto first = std::find_if(all.begin(), all.end(),
                                    [](const LessonEntry& entry) { return entry.lesson->number == 1; });
    page_.asked.lesson = (first == all.end() ? all.front() : *first).lesson->id;
    page_.asked.first = false;
  }
  if (std::string id = std::exchange(page_.asked.lesson, {}); !id.empty()) {
    const auto known = page_.record.progress.lessons.find(id);
    at = {std::move(id), 0, -1, false};
    if (const LessonEntry* entry = page_.list.library ? page_.list.library->find(at.lesson) : nullptr;
        entry && known != page_.record.progress.lessons.end() && !page_.asked.fromStart) {
      const auto& steps = entry->lesson->steps;
      const auto step = std::find_if(steps.begin(), steps.end(),
                                     [&](const LessonStep& each) { return each.id == known->second.last; });
      if (step != steps.end()) goTo(at, step - steps.begin());
    }
    page_.asked.fromStart = false;
  }
  if (const auto step = std::exchange(page_.asked.step, std::nullopt)) goTo(at, *step);
  if (const auto option = std::exchange(page_.asked.option, std::nullopt); option && page_.asking()) {
    at.guess = *option;
    // In a lecture, hands are counted first, and the answer is shown once everyone has voted.
    if (!services_.view.present) answer(at);
  }
  const auto move = std::exchange(page_.asked.move, std::nullopt);
  if (!move) return;
  if (*move == Move::list) at = {};
  if (!page_.here.lesson) return;
  const auto last = static_cast<Index>(page_.here.lesson->steps.size()) - 1;
  if (*move == Move::next) moveOn(at);
  if (*move == Move::back) moveBack(at);
  if (*move == Move::first) goTo(at, 0);
  if (*move == Move::last) goTo(at, last);
  if (*move == Move::restore) restoreStep();
}

void Page::moveOn(LessonCursor& at) {
  if (page_.explains()) {
    page_.here.put = true;
    return;
  }
  if (page_.asking()) return answer(at);
  if (at.step + 1 < static_cast<Index>(page_.here.lesson->steps.size())) return goTo(at, at.step + 1);
  at = {};  // the lesson is done: back to the list
}

/// Exactly undoes moveOn().
void Page::moveBack(LessonCursor& at) {
  if (page_.at().question && at.answered) {
    at.answered = false;
    page_.here.put = true;
    return;
  }
  if (services_.view.present && page_.asking() && !page_.explains()) {
    page_.here.put = false;
    at.guess = -1;
    return;
  }
  if (at.step == 0) return;
  goTo(at, at.step - 1);
  at.answered = page_.here.lesson->steps[static_cast<std::size_t>(at.step)].question.has_value();
}

void Page::answer(LessonCursor& at) {
  at.answered = page_.here.showAnswer = true;
  const StepStudy* study = page_.here.study.get();
  if (!study || at.guess < 0 || at.guess >= std::ssize(study->options)) return;
  const bool right = study->options[static_cast<std::size_t>(at.guess)].holds;
  page_.record.progress.lessons[at.lesson].guesses[page_.at().id] = {static_cast<int>(at.guess), right};
  saveProgress();
}

void Page::goTo(LessonCursor& at, Index step) {
  at.step = step;
  at.guess = -1;
  at.answered = false;
}

/// Updates the stage to the person's place in the lesson.
void Page::place(LessonCursor& at) {
  const LessonEntry* entry = page_.list.library ? page_.list.library->find(at.lesson) : nullptr;
  if (entry) at.lesson = entry->lesson->id;  // a link may have named it by number
  if (entry && entry->lesson != placed_.lesson)
    watched_ = entry->own ? Watched{entry->path, entry->writtenAt} : Watched{};
  // An open lesson stays while its file is broken.
  const bool open = placed_.lesson && placed_.lesson->id == at.lesson;
  page_.here.lesson = entry ? entry->lesson : open ? placed_.lesson : nullptr;
  if (!page_.here.lesson) {
    clearStage();
    page_.stage.document = nullptr;
    page_.here.problem.clear();
    return;
  }
  at.step = std::clamp<Index>(at.step, 0, static_cast<Index>(page_.here.lesson->steps.size()) - 1);
  page_.here.step = at.step;
  const LessonStep& step = page_.at();
  const auto options = step.question ? static_cast<Index>(step.question->options.size()) : 0;
  if (at.guess >= options) at.guess = -1;
  page_.here.guess = at.guess;
  page_.here.answered = at.answered && step.question;
  const bool after = !page_.asking();
  if (const Placed now{page_.here.lesson, at.step, after}; now != placed_) {
    if (now.lesson != placed_.lesson || now.step != placed_.step) {
      page_.here.study = nullptr;
      page_.here.put = false;
      page_.here.problem.clear();
      studied_ = {};
    }
    setStage(now);
    remember(at);
    takeStudy();
  }
  page_.stage.document = stage_.document().get();
  page_.stage.changed = stage_.changed();
}

/// Stages the step with the person's changes, if it has any, else as the lesson defines it.
void Page::setStage(const Placed& now) {
  clearStage();
  const LessonStep& step = now.lesson->steps[static_cast<std::size_t>(now.step)];
  Scene written = stageScene(*now.lesson, step, now.after);
  // A stage can't contain another stage.
  if (written.cursor.page == "lessons" || written.cursor.page == "talk") written.cursor.page = "heads";
  const auto left = waiting_.extract({now.lesson->id, step.id, now.after});
  stage_.put(std::move(written), left.empty() ? nullptr : left.mapped().document);
  placed_ = now;
  page_.stage.waiting.clear();
  for (const auto& [where, staged] : waiting_)
    if (std::get<0>(where) == now.lesson->id) page_.stage.waiting.insert(std::get<1>(where));
  renewStage();
}

/// Empties the stage, keeping its changes until the person returns.
void Page::clearStage() {
  const Placed left = std::exchange(placed_, {});
  const std::shared_ptr<Document> document = stage_.take();
  if (!document) return;
  const std::string& step = left.lesson->steps[static_cast<std::size_t>(left.step)].id;
  waiting_[{left.lesson->id, step, left.after}] = {document, stepPlace(*left.lesson, left.step)};
  if (!services_.view.present)
    services_.view.say(fmt::format("Your changes are kept in {}.", stepPlace(*left.lesson, left.step)));
}

void Page::restoreStep() {
  stage_.restore();
  renewStage();
}

/// Call when another scene is on the stage.
void Page::renewStage() {
  page_.stage.settled = false;
  stillFrames_ = 0;
  services_.view.controls = {};
  services_.view.redraw();
}

std::vector<Staged> Page::stages() const {
  std::vector<Staged> stages;
  for (const auto& [where, staged] : waiting_) stages.push_back(staged);
  if (staged()) stages.push_back({staged(), stepPlace(*placed_.lesson, placed_.step)});
  return stages;
}

void Page::remember(const LessonCursor& at) {
  LessonProgress& progress = page_.record.progress.lessons[at.lesson];
  const std::string& id = page_.at().id;
  const bool known =
      progress.seen.contains(id) && progress.last == id && page_.record.progress.last == at.lesson;
  progress.seen.insert(id);
  progress.last = id;
  page_.record.progress.last = at.lesson;
  if (!known) saveProgress();
  // A person who has opened a lesson doesn't need the offer.
  if (!std::exchange(services_.view.preferences.lessonOffered, true)) services_.keepPreferences();
}

void Page::saveProgress() {
  if (!services_.view.showTimings) return;
  const std::filesystem::path folder = stateFolder();
  if (folder.empty()) return;
  services_.files.keep(folder / "lessons.json", [folder, progress = page_.record.progress] {
    return writeProgress(folder, progress);
  });
}

/// Opens the staged scene as the window's own, as one undo step; the person's scene stays in its file.
void Page::takeToPage(Document& own) {
  if (!staged()) return;
  Scene taken = staged()->scene();
  taken.cursor.lesson = own.scene().cursor.lesson;
  own.openInTalk(std::move(taken), *staged()->file());
  services_.view.say("You now have the lesson's scene. Undo restores your own.");
}

std::vector<Action> Page::actions() {
  std::vector<Action> actions = movingActions();
  for (auto more : {progressActions(), answerActions(), writingActions()})
    actions.insert(actions.end(), more.begin(), more.end());
  return actions;
}

std::vector<Action> Page::movingActions() {
  const auto moves = [this](Move move) { return [this, move](Scene&) { page_.asked.move = move; }; };
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
           [this](Scene&) {
             View& view = services_.view;
             if (page_.here.lesson && page_.stage.changed)
               page_.asked.move = Move::restore;
             else if (view.present)
               view.present = false;
             else
               page_.asked.move = Move::list;
           }},
      {.id = "lesson.list",
       .name = "Show all lessons",
       .words = "tutorial course help",
       .run = moves(Move::list)},
      {.id = "lesson.take",
       .name = "Open the lesson's scene on its page",
       .shortcut = {Key::enter, {.shift = true}},
       .run = [this](Scene&) { takes_ = true; }},
      {.id = "lesson.search",
       .name = "Search the lessons",
       .shortcut = {Key::slash},
       .run = [this](Scene&) { page_.list.focusSearch = !page_.here.lesson; }},
      {.id = "lesson.steps",
       .name = "Go to a step",
       .shortcut = {static_cast<Key>('G')},
       .run =
           [this](Scene&) {
             if (page_.here.lesson) services_.view.dialog = stepChoice(page_);
           }},
  };
}

std::vector<Action> Page::progressActions() {
  return {
      {.id = "lesson.forget",
       .name = "Reset progress in all lessons",
       .words = "reset",
       .run =
           [this](Scene&) {
             if (page_.record.progress != Progress{})
               page_.record.forgotten = std::exchange(page_.record.progress, {});
             saveProgress();
             services_.view.say("Progress and answers are reset.");
           }},
      {.id = "lesson.remember",
       .name = "Restore reset progress",
       .run =
           [this](Scene&) {
             const bool can = page_.record.canRemember();
             if (can) page_.record.progress = std::exchange(page_.record.forgotten, {});
             saveProgress();
             services_.view.say(
                 can ? "Progress and answers are restored."
                     : "No progress to restore. You can restore it only until you open another lesson.");
           }},
      {.id = "lesson.begin",
       .name = "Start the first lesson",
       .run =
           [this](Scene&) {
             services_.view.preferences.lessonOffered = true;
             page_.asked.first = page_.asked.fromStart = true;
             services_.view.request("page.lessons");
           }},
      {.id = "lesson.decline",
       .name = "Don't offer the first lesson",
       .run = [this](Scene&) { services_.view.preferences.lessonOffered = true; }},
  };
}

std::vector<Action> Page::answerActions() {
  std::vector<Action> actions;
  // A to D choose an option while a question is open; otherwise they run their usual actions.
  constexpr const char* kElse[] = {"", "stage.blank", "mask.causal", "decode.toggle"};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string letter = optionLetter(i);
    actions.push_back({.id = "lesson.guess." + letter,
                       .name = "Answer " + letter,
                       .shortcut = {static_cast<Key>('A' + static_cast<int>(i))},
                       .run = [this, i, otherwise = std::string(kElse[i])](Scene&) {
                         const bool asked = page_.asking() && i < page_.at().question->options.size();
                         if (asked)
                           page_.asked.option = static_cast<Index>(i);
                         else if (!otherwise.empty())
                           services_.view.request(otherwise);
                       }});
  }
  return actions;
}

}  // namespace headscope::app::lessons_page

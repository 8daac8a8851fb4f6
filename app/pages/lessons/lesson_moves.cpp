#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"

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

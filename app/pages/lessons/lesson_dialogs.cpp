// Dialogs to choose a step of the open lesson, or a question that was answered wrong.

#include <fmt/core.h>

#include <algorithm>

#include "app/pages/lessons/lessons_state.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app::lessons_page {

namespace {

/// A line of the list.
struct StepLine {
  std::string number, title, note;  ///< the note is right-aligned
  bool current = false;
};

/// Draws a scrolling list of steps. Returns the one clicked, −1 = none.
Index stepList(View& view, const std::string& name, const std::vector<StepLine>& lines) {
  Index clicked = -1;
  const float high = view.px(32);
  if (ImGui::BeginChild(name.c_str(), ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float width = ImGui::GetContentRegionAvail().x;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const StepLine& line = lines[i];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const std::string id = fmt::format("{}.{}", name, i);
      if (hitArea(id, ImVec2(width, high))) clicked = static_cast<Index>(i);
      if (ImGui::IsItemHovered())
        list.AddRectFilled(at, ImVec2(at.x + width, at.y + high), view.theme->line, view.px(4));
      const float y = at.y + high / 2, left = at.x + view.px(42), right = at.x + width - view.px(8);
      paintText(list, view.fonts->mono, ImVec2(at.x + view.px(28), y), view.theme->secondary, line.number,
                Align::right);
      const float note = std::min(textWidth(view.fonts->small, line.note), width * 0.45f);
      paintFitted(view, list, line.current ? view.fonts->bold : view.fonts->text, ImVec2(left, y),
                  right - note - view.px(note > 0 ? 12 : 0) - left, view.theme->text, line.title);
      if (note > 0)
        paintFitted(view, list, view.fonts->small, ImVec2(right, y), note + 1, view.theme->secondary,
                    line.note, Align::right);
    }
  }
  compat::endChild();
  return clicked;
}

float listHeight(std::size_t lines) {
  return 74 + 36 * static_cast<float>(std::min<std::size_t>(lines, 16));
}

class StepChoice : public Dialog {
 public:
  explicit StepChoice(State& page) : page_(page) {}
  std::string name() const override { return "lesson.steps"; }

  void draw(Scene&, View& view, bool) override {
    if (!page_.here.lesson) {
      view.dialog.reset();
      return;
    }
    std::vector<StepLine> lines;
    for (const LessonStep& step : page_.here.lesson->steps) {
      const bool here = std::ssize(lines) == page_.here.step;
      const bool changed = here ? page_.stage.changed : page_.stage.waiting.contains(step.id);
      lines.push_back({std::to_string(lines.size() + 1), step.title, changed ? "changed by you" : "", here});
    }
    if (beginDialog(view, "lesson.steps", page_.here.lesson->title, 520, listHeight(lines.size())))
      if (const Index chosen = stepList(view, "lesson.goto", lines); chosen >= 0) {
        page_.asked.step = chosen;
        view.dialog.reset();
      }
    endDialog();
  }

 private:
  State& page_;
};

/// A question that was answered wrong.
struct WrongGuess {
  const Lesson* lesson;
  Index step;
};

/// All of them, in the order of the lesson list.
std::vector<WrongGuess> wrongGuesses(const State& page) {
  std::vector<WrongGuess> wrong;
  for (const LessonEntry& entry : page.list.library->lessons) {
    const Lesson& lesson = *entry.lesson;
    const auto known = page.record.progress.lessons.find(lesson.id);
    if (known == page.record.progress.lessons.end()) continue;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      const auto guess = known->second.guesses.find(lesson.steps[i].id);
      if (guess != known->second.guesses.end() && !guess->second.right)
        wrong.push_back({&lesson, static_cast<Index>(i)});
    }
  }
  return wrong;
}

/// Opens the step unanswered, so that it asks its question again.
void openGuess(State& page, const WrongGuess& guess) {
  page.asked.lesson = guess.lesson->id;
  page.asked.fromStart = true;
  page.asked.step = guess.step;
}

class WrongGuesses : public Dialog {
 public:
  explicit WrongGuesses(State& page) : page_(page) {}
  std::string name() const override { return "lesson.wrong"; }

  void draw(Scene&, View& view, bool) override {
    const std::vector<WrongGuess> wrong = wrongGuesses(page_);
    if (wrong.empty()) {
      view.dialog.reset();
      return;
    }
    std::vector<StepLine> lines;
    for (const WrongGuess& guess : wrong)
      lines.push_back({guess.lesson->number > 0 ? std::to_string(guess.lesson->number) : "",
                       guess.lesson->steps[static_cast<std::size_t>(guess.step)].title, guess.lesson->title});
    if (beginDialog(view, "lesson.wrong", "Review wrong answers", 640, listHeight(lines.size())))
      if (const Index chosen = stepList(view, "lesson.again", lines); chosen >= 0) {
        openGuess(page_, wrong[static_cast<std::size_t>(chosen)]);
        view.dialog.reset();
      }
    endDialog();
  }

 private:
  State& page_;
};

}  // namespace

std::shared_ptr<Dialog> stepChoice(State& page) {
  return std::make_shared<StepChoice>(page);
}

void chooseWrongGuess(State& page) {
  const std::vector<WrongGuess> wrong = wrongGuesses(page);
  if (wrong.size() == 1)
    openGuess(page, wrong.front());
  else if (!wrong.empty())
    page.view.dialog = std::make_shared<WrongGuesses>(page);
}

Index wrongGuessCount(const State& page) {
  return std::ssize(wrongGuesses(page));
}

}  // namespace headscope::app::lessons_page

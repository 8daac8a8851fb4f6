#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/compute/lessons/lesson_library.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/scene/changed_fields.h"
#include "app/scene/document.h"
#include "app/scene/lessons/lesson_progress.h"
#include "app/scene/text/rich_text.h"
#include "app/widgets/dialog.h"
#include "app/widgets/layout.h"
#include "app/widgets/text/rich_text.h"
#include "app/widgets/view.h"
#include "attention/formats/merged_file.h"

namespace headscope::app::lessons_page {

/// A move within a lesson. A step's question comes between that step and the next.
enum class Move { next, back, first, last, restore, list };

/// All lessons, and the search among them.
struct LessonList {
  std::shared_ptr<const LessonLibrary> library;          ///< null until read
  std::vector<std::optional<attention::Matrix>> covers;  ///< one per lesson; empty until computed
  std::string search;                                    ///< text that the title or summary must contain
  bool focusSearch = false;                              ///< moves the keyboard focus to the search box
};

/// The person's progress in the lessons.
struct LessonRecord {
  Progress progress;
  Progress forgotten;  ///< the progress last reset, kept until the program ends
  std::shared_ptr<attention::MergedFile> file = std::make_shared<attention::MergedFile>();
  bool canRemember() const { return progress == Progress{} && forgotten != Progress{}; }
};

/// The person's place in a lesson, and what was computed for that step.
struct LessonPlace {
  std::shared_ptr<const Lesson> lesson;  ///< the open lesson; null while the list is shown
  Index step = 0;                        ///< index of the step
  Index guess = -1;                      ///< the chosen option; −1 = none
  bool answered = false;                 ///< the question's answer is shown
  bool put = false;         ///< while presenting: the explanation has been read and the question is shown
  bool showAnswer = false;  ///< scrolls to the question
  std::shared_ptr<const StepStudy> study;  ///< of the step; null until computed
  std::string problem;                     ///< why the study can't be computed
};

/// What is on the step's stage.
struct LessonStage {
  Document* document = nullptr;           ///< null without a lesson
  std::shared_ptr<const Snapshot> shown;  ///< the snapshot its heads show; null before the first
  bool settled = false;                   ///< everything it requested since it was set is done
  bool changed = false;                   ///< the person changed its scene
  std::set<std::string> waiting;          ///< ids of the lesson's other steps with changes kept
};

/// Requests made in this frame.
struct LessonRequests {
  std::optional<Move> move;
  std::optional<Index> step;    ///< step to go to
  std::optional<Index> option;  ///< option chosen
  std::string lesson;           ///< id of a lesson to open
  bool first = false;           ///< open the first lesson
  bool fromStart = false;       ///< open the lesson at its first step instead of continuing
  bool take = false;            ///< open the staged scene as the window's own
};

/// The page's view state, which its panels may change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  LessonList list;
  LessonRecord record;
  LessonPlace here;
  LessonStage stage;
  LessonRequests asked;

  const LessonStep& at() const { return here.lesson->steps[static_cast<std::size_t>(here.step)]; }
  /// Whether the step's question is unanswered. Until then, the stage shows the scene before the step.
  bool asking() const { return here.lesson && at().question && !here.answered; }
  /// Whether to show the explanation alone. While presenting, it is a separate move before the question.
  bool explains() const { return view.present && asking() && !here.put && here.guess < 0; }
};

/// The scene to which a step's patch was applied.
const Scene& sceneBefore(const Lesson& lesson, const LessonStep& step);

/// The scene for the stage: the step's scene, or, until its question is answered (`after` false), the scene
/// before it with the step's cursor.
Scene stageScene(const Lesson& lesson, const LessonStep& step, bool after);

/// Parses a lesson's text; returns it as plain text if it doesn't parse.
RichText richOrPlain(const std::string& text);
RichFonts readingFonts(const View& view, std::uint32_t color);

// The division of the window, in pixels; `area` is everything between the bars.

float columnWidth(const View& view, const ImRect& area);
float comparisonWidth(const View& view, const ImRect& area);
/// While presenting: the area for the text. Right of maps, which are square; below wide pages.
ImRect captionArea(const State& page, const ImRect& area);

/// Draws all lessons with their pictures and, on the left, the one to continue with.
void lessonList(State& page, const Layout& layout);
/// Draws the open lesson's column: progress, text, question, controls, and the buttons to move on.
void lessonColumn(State& page, const ImRect& area);
/// Draws the step's question and options below `at`, `width` wide. Returns the height in pixels.
float questionPart(State& page, ImVec2 at, float width);
/// Draws why the answer is right and why the person's answer is wrong. Returns the height in pixels.
float questionReason(const State& page, ImVec2 at, float width);
/// While presenting: draws the text, or the question with its options.
void lessonCaption(State& page, const ImRect& area);
/// Compares the step to the state before it: the head's map, the row's softmax, and the head's output.
void comparison(State& page, const ImRect& area);
/// Whether the step has something to compare, on a page where it can be drawn.
bool compares(const State& page);
/// Draws the numbered mark where the text refers to, if visible; `area` is everything between the bars.
void lookMark(const State& page, const ImRect& area);
/// The place the text refers to; nothing if it isn't visible.
std::optional<ImRect> lookRect(const State& page);

/// The number of questions in the library's lessons that were answered wrong.
Index wrongGuessCount(const State& page);
/// Opens the question answered wrong or, if there are several, a list. `page` must outlive the list.
void chooseWrongGuess(State& page);
/// A dialog to choose a step. `page` must outlive it.
std::shared_ptr<Dialog> stepChoice(State& page);

/// "A", "B", ….
std::string optionLetter(std::size_t option);
/// Minutes that the rest of the lesson takes, rounded up.
Index minutesLeft(const Lesson& lesson, Index step);
/// How many of a lesson's questions were answered right, and how many were answered.
struct GuessCount {
  Index right = 0, all = 0;
};
GuessCount guessesOf(const LessonProgress& progress);

}  // namespace headscope::app::lessons_page

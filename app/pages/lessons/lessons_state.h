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

namespace headscope::app::lessons_page {

/// How one moves through a lesson. A question stands between its step and the next.
enum class Move { next, back, first, last, restore, list };

/// All lessons, and what is searched for among them.
struct LessonList {
  std::shared_ptr<const LessonLibrary> library;          ///< null until it was read
  std::vector<std::optional<attention::Matrix>> covers;  ///< a picture for each lesson of the library
  std::string search;                                    ///< words that titles have to hold
  bool focusSearch = false;                              ///< the search box gets the keyboard
};

/// What the person has done of the lessons.
struct LessonRecord {
  Progress progress;
  Progress forgotten;  ///< what "Forget my progress" took, until the program ends
  bool canRemember() const { return progress == Progress{} && forgotten != Progress{}; }
};

/// Where the person is in a lesson, and what was computed of its step.
struct LessonPlace {
  std::shared_ptr<const Lesson> lesson;    ///< that is open; null: the list is shown
  Index step = 0;                          ///< of it
  Index guess = -1;                        ///< the option that was chosen
  bool answered = false;                   ///< the question's answer is shown
  bool put = false;                        ///< presented: the explanation was read, its question is put
  bool showAnswer = false;                 ///< the question scrolls into sight
  std::shared_ptr<const StepStudy> study;  ///< of the step; null until it is there
  std::string problem;                     ///< why there is none
};

/// What the step shows.
struct LessonStage {
  Document* document = nullptr;           ///< null without a lesson
  std::shared_ptr<const Snapshot> shown;  ///< what its heads are of; null before the first
  bool stands = false;                    ///< it has all that it asked for since it was set
  bool changed = false;                   ///< the person moved something on it
  std::set<std::string> waiting;          ///< ids of the lesson's other steps that were left changed
};

/// What was asked for in this frame.
struct LessonRequests {
  std::optional<Move> move;
  std::optional<Index> step;    ///< to go to
  std::optional<Index> option;  ///< that was chosen
  std::string lesson;           ///< the id of one to open
  bool first = false;           ///< the first lesson
  bool fromStart = false;       ///< which is not gone on with, but begun
};

/// What the page of lessons shows beside the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  LessonList list;
  LessonRecord record;
  LessonPlace here;
  LessonStage stage;
  LessonRequests asked;

  const LessonStep& at() const { return here.lesson->steps[static_cast<std::size_t>(here.step)]; }
  /// Whether the step's question waits for its answer: until then the stage shows what was before.
  bool asking() const { return here.lesson && at().question && !here.answered; }
  /// Presented, a step's explanation comes first, and its question is a beat of its own after it.
  bool explains() const { return view.present && asking() && !here.put && here.guess < 0; }
};

/// The scene that a step's patch was laid over.
const Scene& sceneBefore(const Lesson& lesson, const LessonStep& step);

/// What the stage shows: the step's scene, or until its question is answered what was there before, looked
/// at from where the step looks.
Scene stageScene(const Lesson& lesson, const LessonStep& step, bool after);

/// Words of a lesson, set; what doesn't parse is shown as it stands.
RichText richOrPlain(const std::string& text);
RichFonts readingFonts(const View& view, std::uint32_t color);

// How the window is shared out, in pixels; `area` is all between the bars.

float columnWidth(const View& view, const ImRect& area);
float comparisonWidth(const View& view, const ImRect& area);
/// While presenting: where the words stand. Beside maps, which are square; below pages that are wide.
ImRect captionArea(const State& page, const ImRect& area);

/// All lessons with their pictures, and at the left what to go on with.
void lessonList(State& page, const Layout& layout);
/// The open lesson's column: place, text, question, knobs, and the way on.
void lessonColumn(State& page, const ImRect& area);
/// The step's question with its options; returns how far down it goes. `width` from `at` on.
float questionPart(State& page, ImVec2 at, float width);
/// Why the answer is right, and why the guess was tempting; returns how far down that goes.
float questionReason(const State& page, ImVec2 at, float width);
/// While presenting: the text, or the question with its options.
void lessonCaption(State& page, const ImRect& area);
/// What was before beside what is now: the head's map, what it says, how far that moved.
void comparison(State& page, const ImRect& area);
/// Whether the step has something to compare with, on a page where that can be drawn.
bool compares(const State& page);
/// The numbered mark at what the text points to, where it is on screen; `area` is all between the bars.
void lookMark(const State& page, const ImRect& area);
/// Where that is; nothing where it is not on screen.
std::optional<ImRect> lookRect(const State& page);

/// Questions of the library's lessons whose guess was wrong.
Index wrongGuessCount(const State& page);
/// Opens the question whose guess was wrong, or of several the list to choose one from. `page` must outlive
/// it.
void chooseWrongGuess(State& page);
/// The steps to choose one from. `page` must outlive it.
std::shared_ptr<Dialog> stepChoice(State& page);

/// "A", "B", ….
std::string optionLetter(std::size_t option);
/// Minutes that the rest of the lesson takes.
Index minutesLeft(const Lesson& lesson, Index step);
/// How many of a lesson's questions were answered rightly, and how many were guessed at.
struct GuessCount {
  Index right = 0, all = 0;
};
GuessCount guessesOf(const LessonProgress& progress);

}  // namespace headscope::app::lessons_page

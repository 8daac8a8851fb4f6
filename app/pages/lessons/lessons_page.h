#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "app/compute/lessons/lesson_study.h"
#include "app/kit/rows.h"
#include "app/kit/shown.h"
#include "app/pages/common/page.h"
#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/text/number_text.h"
#include "app/scene/text/rich_text.h"
#include "app/widgets/dialog.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/rich_text.h"
#include "app/widgets/view.h"
#include "attention/formats/merged_file.h"

namespace headscope::app::lessons_page {

using attention::asSize;

/// A move within a lesson. A step's question comes between that step and the next.
enum class Move { next, back, first, last, restore, list };

/// The finished talks, in the order of kReadyTalks.
using FinishedTalks = std::vector<std::shared_ptr<const Scene>>;

/// All lessons and talks, and the search among them.
struct LessonList {
  std::shared_ptr<const LessonLibrary> library;          ///< null until read
  std::shared_ptr<const FinishedTalks> talks;            ///< null until read
  std::vector<std::optional<attention::Matrix>> covers;  ///< one per lesson; empty until computed
  std::string search;                                    ///< text that title, summary or part must contain
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
  bool ended = false;       ///< after the last step: what was learned
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

  const LessonStep& at() const { return here.lesson->steps[asSize(here.step)]; }
  /// Whether the step's question is unanswered. Until then, the stage shows the scene before the step.
  bool asking() const { return here.lesson && at().question && !here.answered; }
  /// Whether to show the explanation alone. While presenting, it is a separate move before the question.
  bool explains() const { return view.present && asking() && !here.put && here.guess < 0; }
  /// Whether the step shows its own picture in place of its page.
  bool pictured() const { return here.lesson && at().look.picture != LookPicture::none; }
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

float comparisonWidth(const View& view, const ImRect& area);
/// The area for the text: left; while presenting, right of maps, which are square, and below wide pages.
ImRect wordsArea(const State& page, const ImRect& area);
/// What wordsArea() leaves of `area`.
ImRect besideWords(const State& page, const ImRect& area);

/// Draws all lessons along their path, the talks and, on the left, what to do next. `own` is the window's
/// scene.
void lessonList(State& page, const Scene& own, const Layout& layout);
/// Draws the open lesson's column: progress, text, question, controls, and the buttons to move on.
void lessonColumn(State& page, const ImRect& area);
/// The step's question, its options, and, once it is answered, the reason.
void questionPart(Rows& rows, State& page);
void questionItself(Rows& rows, const State& page);
/// The height of the question with its options, answered, below each other at that width. Requires a study.
float questionHeight(const State& page, float width);
/// What was learned, and the lesson that follows.
void lessonEnd(Rows& rows, State& page, const RichFonts& fonts);
/// Why the answer is right and why the person's answer is wrong.
void questionReason(Rows& rows, const State& page);
/// Draws one segment per step in the colour that the function returns for it; 0 = outlined.
void stepBar(const View& view, const ImRect& area, Index steps, float gap,
             const std::function<std::uint32_t(Index, const ImRect&)>& color);
/// How the cells of a picture with this look are drawn.
CellStyle cellStyle(const View& view, const Look& look, const attention::Matrix& values);
/// While presenting: draws the text, or the question with its options.
void lessonCaption(State& page, const ImRect& area);
/// While presenting: how softmax divides the selected row before the step and now, if there is room.
void comparisonBelow(Rows& rows, State& page);
float comparisonBelowHeight(const View& view);
/// Compares the step to the state before it: the head's map, the row's softmax, and the head's output.
void comparison(State& page, const ImRect& area);
/// Whether the step has something to compare on the page shown.
bool comparable(const State& page);
/// Whether it is compared in a separate column.
bool compares(const State& page);
/// Draws the step's own picture in `area`; nothing until it is computed.
void lessonPicture(const State& page, const ImRect& area);
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

/// The person's own lesson files: opened, written from scenes, and read again when edited elsewhere.
class LessonFiles {
 public:
  LessonFiles(PageServices& services, State& page) : services_(services), page_(page) {}

  /// The lessons to read: those of the program, the person's, and those opened here.
  const LibraryQuestion& question();
  /// Watches the file of an opened lesson, if it is the person's own.
  void watch(const LessonEntry& entry);
  /// Seconds until check() wants to be called; infinite without a watched file.
  double nextCheckIn() const;
  /// Requests a new reading when the watched file has changed, also while it is invalid.
  void check();
  void open(const std::filesystem::path& path, const Outcome& outcome);
  void addActions(ActionList& to);

 private:
  /// The last opened lesson of the person's own, and when the version read was written.
  struct Watched {
    std::filesystem::path path;
    std::filesystem::file_time_type writtenAt;
  };

  void save(const Scene& scene);
  void addStep(const Scene& scene);

  PageServices& services_;
  State& page_;
  LibraryQuestion question_;
  std::filesystem::path writing_;  ///< the lesson file to which steps are added
  Watched watched_;
  double watchedAt_ = 0;  ///< time of the last check
};

struct StepQuestion {
  std::shared_ptr<const Lesson> lesson;
  Index step = -1;
  NumberStyle numbers = numberStyle();  ///< the number format of the texts
  bool operator==(const StepQuestion&) const = default;
};

/// Moves through the lessons as the person asked since the last frame.
void applyMoves(PageServices& services, State& page, LessonCursor& at);
/// Records that the person saw the step.
void remember(PageServices& services, State& page);
/// Returns all lessons and their steps.
std::vector<Action> lessonPlaces(PageServices& services, State& page);
/// Shows the page of lessons, and on it the lesson asked for.
void showLessons(PageServices& services);
/// Adds the actions that move, choose an option, or reset the person's progress.
void addStepActions(ActionList& to, PageServices& services, State& page);

/// The list of lessons, or one open lesson next to a stage with the page it is about. The stage shows the
/// lesson's scene; the window's own scene stays unchanged.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> places() override;
  bool take(const Scene& scene) override;
  void arrange(Document& own) override;
  std::shared_ptr<Document> staged() const override { return stage_.document(); }
  std::vector<Staged> stages() const override;
  Layout stageLayout(const Layout& window, bool hasSide, bool hasStrip) const override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::string notes(const Scene& scene) const override;
  std::shared_ptr<const Scene> nextScene(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  /// What is on the stage.
  struct Placed {
    std::shared_ptr<const Lesson> lesson;
    Index step = -1;
    bool after = false;  ///< the step's scene, instead of the one before its question
    bool operator==(const Placed&) const = default;
  };
  /// What is read from disk.
  using Library = std::pair<LessonLibrary, Progress>;

  void takeLibrary(const std::shared_ptr<const Library>& found);
  void takeTalks(const std::shared_ptr<const FinishedTalks>& talks);
  bool takeStudy();
  bool showsBefore() const;
  void place(LessonCursor& at);
  void setStage(const Placed& now);
  void clearStage();
  void renewStage();

  PageServices& services_;
  State page_;
  LessonFiles files_;
  PageStage stage_;
  Placed placed_;
  /// Changed documents that left the stage, by lesson id, step id and Placed::after; they return with it.
  std::map<std::tuple<std::string, std::string, bool>, Staged> waiting_;
  StepQuestion studied_;  ///< the question that page_.here.study answers
  int stillFrames_ = 0;   ///< consecutive frames without work for the step
  ShownSet shown_;
  Shown<LibraryQuestion, Library> library_;
  Shown<std::shared_ptr<const Lesson>, attention::Matrix> cover_;  ///< of one lesson of the list
  Shown<std::monostate, FinishedTalks> talks_;
  Shown<StepQuestion, StepStudy> study_, ahead_;
};

}  // namespace headscope::app::lessons_page

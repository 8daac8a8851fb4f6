#pragma once

#include "app/pages/common/page.h"
#include "app/pages/common/page_stage.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::lessons_page {

/// Lessons: a list, or one that is open, with the page it is about on a stage beside its words. The scene on
/// the stage is the lesson's; the window's waits.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
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
  std::shared_ptr<const Scene> comesNext(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  bool open(const NamedFile& file, const Asker& asker, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  struct StepQuestion {
    std::shared_ptr<const Lesson> lesson;
    Index step = -1;
    NumberStyle numbers = numberStyle();  ///< of the texts with their numbers
    bool operator==(const StepQuestion&) const = default;
  };
  struct CoverQuestion {
    std::shared_ptr<const Lesson> lesson;
    bool operator==(const CoverQuestion&) const = default;
  };
  /// What is on the stage.
  struct Placed {
    std::shared_ptr<const Lesson> lesson;
    Index step = -1;
    bool after = false;  ///< the step's scene, not the one before its question
    bool operator==(const Placed&) const = default;
  };
  static constexpr double kWatchInterval = 1;  ///< seconds between looks at a lesson that is being written
  using StudyAnswer = Answer<StepQuestion, std::shared_ptr<const StepStudy>>;

  bool takeLibrary();
  bool takeCovers();
  bool takeStudy();
  void applyMoves(Scene& own);
  void moveOn(LessonCursor& at);
  void moveBack(LessonCursor& at);
  void answer(LessonCursor& at);
  void goTo(LessonCursor& at, Index step);
  void place(LessonCursor& at);
  void setStage(const Placed& now);
  void clearStage();
  void restoreStep();
  void renewStage();
  void remember(const LessonCursor& at);
  void saveProgress();
  void watchFile();
  void takeToPage(Document& own);
  void openLesson(const std::filesystem::path& path, const Outcome& outcome);
  void saveAsLesson(const Scene& scene);
  void addStep(const Scene& scene);
  std::vector<Action> movingActions();
  std::vector<Action> progressActions();
  std::vector<Action> answerActions();
  std::vector<Action> writingActions();

  PageServices& services_;
  State page_;
  PageStage stage_;
  Placed placed_;
  /// What was changed on the stage and left: it comes back with its step, found by the ids of lesson and step
  /// and by Placed::after.
  std::map<std::tuple<std::string, std::string, bool>, Staged> waiting_;
  LibraryQuestion asked_;
  StepQuestion studied_;           ///< what page_.here.study is of
  int stillFrames_ = 0;            ///< in which nothing was under way for the step
  bool takes_ = false;             ///< the scene on the stage was asked for as the window's own
  std::filesystem::path writing_;  ///< the lesson that steps are added to
  /// The person's own lesson that was opened last, and when its file was written as far as it was read.
  struct Watched {
    std::filesystem::path path;
    std::filesystem::file_time_type writtenAt;
  } watched_;
  double watchedAt_ = 0;  ///< when that was looked at
  Answer<LibraryQuestion, std::shared_ptr<const std::pair<LessonLibrary, Progress>>> library_;
  Answer<CoverQuestion, attention::Matrix> cover_;
  StudyAnswer study_, ahead_;
};

}  // namespace headscope::app::lessons_page

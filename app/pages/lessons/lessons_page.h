#pragma once

#include "app/pages/common/page.h"
#include "app/pages/common/page_stage.h"
#include "app/pages/lessons/lesson_files.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::lessons_page {

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
/// The actions that move, choose an option, or reset the person's progress.
std::vector<Action> stepActions(PageServices& services, State& page);

/// The list of lessons, or one open lesson next to a stage with the page it is about. The stage shows the
/// lesson's scene; the window's own scene stays unchanged.
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
  using StudyAnswer = Answer<StepQuestion, std::shared_ptr<const StepStudy>>;

  bool takeLibrary();
  bool takeCovers();
  bool takeStudy();
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
  Answer<LibraryQuestion, std::shared_ptr<const std::pair<LessonLibrary, Progress>>> library_;
  Answer<std::shared_ptr<const Lesson>, attention::Matrix> cover_;
  StudyAnswer study_, ahead_;
};

}  // namespace headscope::app::lessons_page

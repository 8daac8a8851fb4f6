#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/model/bundled_model.h"
#include "app/pages/model/head_answers.h"
#include "app/pages/model/head_pointer.h"
#include "app/pages/model/model_state.h"
#include "app/pages/model/opener.h"
#include "app/pages/model/prediction_answers.h"
#include "app/pages/model/recorded_watch.h"
#include "app/pages/model/studied_texts.h"
#include "app/pages/model/study_run.h"

namespace headscope::app::model_page {

/// All heads of all layers of a model on one text, its next-token predictions, and how switching heads off
/// changes them.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> moreActions() override { return bundled_.moreActions(); }
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void arrange(Document& own) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void releaseMemory() override { forgetModel(); }
  void reset() override;
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override { return page_.pictures.bytes(); }
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  // These take the scene as the page shows it: with the bundled model if none is open.
  bool takeShown(const Scene& scene);
  void prepareShown(Scene& scene);
  void drawShown(Scene& scene, const Layout& layout);
  void askShown(const Scene& scene);

  bool takePair(const Scene& scene);
  void askAboutRecorded(const Scene& scene);
  void fitCursor(Scene& scene);
  void forgetModel();

  PageServices& services_;
  State page_;
  std::shared_ptr<const OpenModel> opened_;  ///< the scene's model at the last take()
  bool stack_ = false;                       ///< that scene had synthetic layers
  bool keepsPicture_ = false;  ///< the old picture stays until the file's new version has been studied

  Opener opener_;
  BundledModel bundled_;
  StudyRun run_;
  PredictionAnswers predictions_;
  HeadAnswers heads_;
  PairAnswers pairs_;
  StudiedTexts texts_;
  RecordedWatch watch_;
  HeadPointer pointer_;
};

}  // namespace headscope::app::model_page

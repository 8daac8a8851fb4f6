#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "app/pages/common/page.h"
#include "app/pages/model/head_answers.h"
#include "app/pages/model/head_pointer.h"
#include "app/pages/model/model_state.h"
#include "app/pages/model/prediction_answers.h"
#include "app/pages/model/recorded_watch.h"
#include "app/pages/model/study_run.h"

namespace headscope::app::model_page {

/// All heads of all layers of a model on one text, what it would say next, and what switching heads off does
/// to that.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  std::vector<Action> moreActions() override { return std::exchange(more_, {}); }
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
  bool open(const NamedFile& file, const Asker& asker, const Outcome& outcome) override;

  /// Opens a checkpoint's folder, or kLearned, in the background; the scene's layer is then the model's.
  /// `then` is done to the scene once it has the model.
  void openModelAt(const std::string& model, const Asker& asker, const Outcome& outcome,
                   const std::function<void(Scene&)>& then = {});

  const State& state() const { return page_; }
  State& state() { return page_; }

 private:
  /// Opens the bundled model for the page alone, once.
  void openExample();
  /// Whether the page shows that model in place of the scene's layer: no other is open.
  bool showsExample(const Scene& scene) const;
  /// The scene as the page shows it then: with that model, and an example text where the scene's has other
  /// words.
  Scene exampleOf(const Scene& scene);
  /// Acts on what the page shows. Where that is the example, the scene takes over what is looked at; and all
  /// of it, once something is changed.
  void onShown(Scene& scene, const std::function<void(Scene&)>& act);
  /// Actions that do so.
  std::vector<Action> onShown(std::vector<Action> actions);
  bool takeShown(const Scene& scene);
  void prepareShown(Scene& scene);
  void nextNamed(Scene& scene);
  void lookAtStrongest(Cursor& cursor) const;
  void drawPresented(Scene& scene, Layout layout);
  void drawShown(Scene& scene, const Layout& layout);
  void askShown(const Scene& scene);
  void takeStack(const Setup& setup);
  void fitCursor(Scene& scene);
  void advanceWriting(Scene& scene);
  Layout divided(Layout layout) const;
  float stripHeight(const Layout& layout) const;
  bool foldsStrip(const Layout& layout) const;
  void askAboutRecorded(const Scene& scene);
  bool takePair(const Scene& scene);
  /// Opens the recording that the scene has beside its own, in the background.
  void readOther(const std::string& name);
  bool takeTexts();
  void askAboutTexts(const Scene& scene);
  /// Reads a file of texts in the background and shows the view of them.
  void openTexts(const std::filesystem::path& path, const Asker& asker, const Outcome& outcome);
  static void showTexts(Scene& scene, const std::string& name);
  void takeFile(const std::string& name, std::shared_ptr<const TextFile> file);
  void readTexts(const Scene& scene);
  std::vector<Action> textsActions();
  void forgetModel();
  /// Puts what is open on a picture, in the background.
  void openPicture(const std::filesystem::path& path, const Asker& asker, const Outcome& outcome);
  Action pictureAction();
  void lookForCached();
  void lookForRecent();
  void changeRecent(const std::string& path, bool opened);
  std::vector<Action> playActions();
  std::vector<Action> lensActions();
  std::vector<Action> headActions();
  std::vector<Action> switchActions();
  std::vector<Action> openActions();
  void readExamples();
  std::vector<Action> exampleActions(const std::shared_ptr<const Learned>& learned);
  std::vector<Action> pairActions();
  void showExample(Scene& scene, const LearnedSkill& skill);
  void showPair(Scene& scene, const LearnedSkill& skill);
  void changeToken(Scene& scene);
  std::vector<Action> filterActions();
  std::vector<Action> moveActions();

  PageServices& services_;
  State page_;
  std::shared_ptr<const OpenModel> opened_;  ///< of the scene that the page is about
  /// The bundled model, where none was open.
  struct Example {
    std::shared_ptr<const OpenModel> model;  ///< null before it is read
    bool asked = false;
    std::optional<SharedText>
        text;  ///< that was looked at last, and whether it has words of that model alone
    bool known = false;
  } example_;
  std::vector<Action> more_;  ///< that the session hasn't taken yet
  bool stack_ = false;        ///< that scene has layers made here

  StudyRun run_;
  PredictionAnswers predictions_;
  HeadAnswers heads_;
  PairAnswers pairs_;
  TextsRun texts_;
  RecordedWatch watch_;
  HeadPointer pointer_;
  bool keepsPicture_ = false;  ///< what is shown stays until the numbers of the file's new version are there
};

/// Writes one token behind the text that was studied; false where it can't go on.
bool writeOn(Scene& scene, const ModelStudy& study);

}  // namespace headscope::app::model_page

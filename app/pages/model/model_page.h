#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "app/pages/common/page.h"
#include "app/pages/model/model_state.h"

namespace headscope::app {

/// All heads of all layers of a model on one text, what it would say next, and what switching heads off does
/// to that.
class ModelPage : public Page {
 public:
  explicit ModelPage(PageServices& services);

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

  const ModelState& state() const { return page_; }
  ModelState& state() { return page_; }

 private:
  /// Layers as the runner tells of them, from the thread that it runs on.
  struct Arriving {
    std::mutex mutex;
    std::vector<std::shared_ptr<const LayerSummary>> layers;
    const OpenModel* model = nullptr;  ///< whose they are
    bool changed = false;
  };

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
  attention::Result<ModelStudy> run(const ModelQuestion& question, std::stop_token stop);
  void takeArriving(const OpenModel* model);
  void takeStudy(const std::shared_ptr<const StudyAnswer>& answer);
  void takeStack(const Setup& setup);
  void fitCursor(Scene& scene);
  void followPointer(Cursor& cursor);
  void advanceWriting(Scene& scene);
  Layout divided(Layout layout) const;
  float stripHeight(const Layout& layout) const;
  bool foldsStrip(const Layout& layout) const;
  static constexpr double kRestSeconds = 0.15;  ///< the pointer rests before heads are tried without
  void askAboutHeads(const Scene& scene);
  void askAboutRecorded(const Scene& scene);
  bool takeAboutHeads();
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
  void watchRecorded(const SubjectSetup& subject);
  void lookForCached();
  void lookForRecent();
  void changeRecent(const std::string& path, bool opened);
  attention::Result<std::vector<float>> forecastAll(const std::vector<Forecast>& wanted,
                                                    std::stop_token stop);
  std::vector<Forecast> forecastsFor(const Scene& scene) const;
  std::optional<SwitchedHead> leansOn(const Scene& scene) const;
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
  ModelState page_;
  ModelRunner runner_;
  Arriving arriving_;
  std::shared_ptr<const StudyAnswer> taken_;
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

  Answer<ModelQuestion, ModelStudy> study_;
  Answer<ModelQuestion, StreamStudy> unchanged_;
  Answer<GuessQuestion, Guesses> guesses_;
  Answer<StripQuestion, std::vector<Foreseen>> strip_;
  Answer<std::vector<Forecast>, std::vector<float>> forecast_;
  Answer<HeadLossQuestion, HeadLosses> losses_;
  Answer<CopyingQuestion, double> copying_;
  Answer<CompositionQuestion, HeadCompositions> compositions_;
  Answer<RecordedQuestion, RecordedRule> recorded_;
  PairAnswers pairs_;
  TextsRun texts_;

  static constexpr double kWatchInterval = 0.5;  ///< seconds between looks at recorded attention's file
  /// What a file holds since it was written again.
  struct WrittenAgain {
    std::string model;
    std::shared_ptr<const OpenModel> opened;  ///< null: nothing new
  };
  /// Which of a file's versions couldn't be read, and for which of them that was said.
  struct Unreadable {
    FileVersion version, told;
  };
  struct Watch {
    double at = 0;
    bool busy = false;
    WrittenAgain again;
    Unreadable failed;
  } watch_;
  bool keepsPicture_ = false;  ///< what is shown stays until the numbers of the file's new version are there

  /// What is looked at: a head and a cell of it.
  struct Look {
    Index layer = 0;
    Cell cell;
    bool operator==(const Look&) const = default;
  };
  std::optional<Look> rested_;  ///< while the pointer is over heads: where it rested last, or was before
  Look pointed_;                ///< where the pointer is
  double onHeadSince_ = 0;
};

/// Writes one token behind the text that was studied; false where it can't go on.
bool writeOn(Scene& scene, const ModelStudy& study);

}  // namespace headscope::app

#pragma once

#include "app/compute/figures/study_figures.h"
#include "app/kit/board.h"
#include "app/pages/common/page.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

// The views that take the place of the overview of all heads and explain the model's answer: patching,
// attribution, the lens, and the study of many texts.

/// Adds the row of views, with the answers and their logit difference. Returns false if there is nothing to
/// choose.
bool viewsRow(Board& board, Scene& scene, State& page);
/// Sets the figure's title and, if a view is drawn without its neighbours, its size: `height` layout units
/// from the area's top on.
void fitView(View& view, const ImRect& area, const std::string& title, float width, float height);
/// Adds the chosen view; nothing for ModelView::heads.
void answerView(Board& board, Scene& scene, State& page);
void patchView(Board& board, Scene& scene, State& page);
/// Measurements of every head on many texts.
void studyView(Board& board, Scene& scene, State& page);
/// The chosen column's mean of every head, or the first column's if the texts lack the chosen one.
GridFigure shownMap(const Scene& scene, const TextsStudy& study);
std::vector<CaptionPart> studyCaption(const Scene& scene, const View& view, const StudyState& texts);
/// Left panel: text B, and example pairs of texts.
void pairSection(Rows& rows, Scene& scene, State& page);

/// A caption for these views: the logit differences, and the head whose patch recovers most.
std::vector<CaptionPart> pairCaption(const Scene& scene, const State& page);
/// Returns the function through which figures look up token texts.
WordOf wordsOf(State& page);
/// "+3.21".
std::string logitText(double value);
/// The height of a grid or bars in place of the heads.
inline constexpr PartHeight kFigure{140, 200, 1};
/// Called with the cell under the pointer.
using AtCell = std::function<void(Index row, Index column, bool clicked)>;
/// Paints a grid's cells with names on both axes, all as large as fits; tests know its cells as `name`.
void paintGrid(View& view, const char* name, const GridFigure& figure, const CellStyle& style,
               const ImRect& area, const AtCell& at);
/// The colours of a grid, and a legend for them.
CellStyle gridStyle(const Scene& scene, const GridFigure& figure);
FigureLegend gridLegend(const GridFigure& figure, const CellStyle& style);
/// Paints the longest bars that fit, the others as one, and their sum. A hovered bar says what it is.
void paintBars(const View& view, const BarFigure& figure, const ImRect& area);
/// Adds what a figure's numbers mean, the first wording that fits, and its colours.
void figureNote(Board& board, const std::vector<std::string>& wordings, const FigureLegend& legend);
/// Whether a token of A, or of B, has no equal partner in the other text.
bool differs(const PairStudy& pair, bool ofB, Index token);

// What the page asks once the text is studied.

/// Asks how switching the selected head off changes the prediction, how much it copies and which heads it
/// composes with, unless text is being generated.
void askAboutHead(const Scene& scene, State& page);
/// Asks for the predictions after the query and after every token.
void askPredictions(const Scene& scene, State& page);
/// Asks what the scene's view needs to know about one text or two. `current`: the study is of the scene.
void askAboutPair(const Scene& scene, State& page, bool current);
/// Asks for the heads shown in place of A's, if the scene shows B or B − A. B is `recorded`, or text B if
/// that is null.
void askCompared(const Scene& scene, State& page, const std::shared_ptr<const OpenModel>& recorded);
/// The head whose paths into the chosen piece are followed. Returns nothing if the whole piece is patched.
std::optional<PathStart> followedPath(const Scene& scene);
/// Whether the scene has a second text or, for recorded attention, a second recording.
bool comparesTwo(const Scene& scene);
/// Swaps the scene's text and B, with their answers, alignment and patching direction. Clears generated text.
void swapTexts(Scene& scene);

/// Watches a file of recorded attention that another program, such as a training run, may rewrite.
class RecordedWatch {
 public:
  static constexpr double kInterval = 0.5;  ///< seconds between checks of the file

  explicit RecordedWatch(PageServices& services) : services_(services) {}

  /// Replaces the subject's recording with the file's new version if one has been read, and checks the file
  /// every kInterval. Returns whether the picture of `shown` may stay until the new version has been studied.
  bool renew(SubjectSetup& subject, const OpenModel* shown);

 private:
  void look(const SubjectSetup& subject);

  /// The new version of a file.
  struct WrittenAgain {
    std::string model;
    std::shared_ptr<const OpenModel> opened;  ///< null: no new version
  };
  /// The last version of the file that couldn't be read, and the last one reported to the user.
  struct Unreadable {
    FileVersion version, told;
  };

  PageServices& services_;
  double at_ = 0;
  bool busy_ = false;
  WrittenAgain again_;
  Unreadable failed_;
};

/// Opens models, recorded attention and pictures in the background, and lists the models that can be opened.
class Opener {
 public:
  Opener(PageServices& services, State& page) : services_(services), page_(page) {}

  /// Opens `model` (a folder, a GGUF file, recorded attention, or kLearned) in the scene that asked, then
  /// calls `then` with that scene.
  void open(const std::string& model, const Requester& requester, const Outcome& outcome,
            const std::function<void(Scene&)>& then = {});
  /// Opens a picture for the model that is open.
  void openPicture(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Reads the recording to compare the scene's with; "" = none.
  void readOther(const std::string& name);

  /// Lists the models on this machine and those opened recently. Reads each list only once.
  void look();
  /// Makes the next look() read the list of recent models again.
  void lookAgain() { page_.opening.lookedForRecent = false; }
  /// Opens or forgets the model that was chosen in the list during this frame.
  void takeChoice();

  /// `openBundled` runs for "Open the bundled model".
  std::vector<Action> actions(const std::function<void(Scene&)>& openBundled);

 private:
  void lookForCached();
  void lookForRecent();
  void changeRecent(const std::string& path, bool opened);

  PageServices& services_;
  State& page_;
};

/// The bundled model: shown on the page while no model is open, and opened for its example texts.
class BundledModel {
 public:
  /// Reads the example texts.
  BundledModel(PageServices& services, State& page, Opener& opener);

  /// Reads the model in the background, once.
  void read();
  /// Whether the page shows it: it has been read, and the scene has neither a model nor synthetic layers.
  bool isShown(const Scene& scene) const;
  /// The scene as the page then shows it: with this model, and with an example text if the scene's own is
  /// empty or has words that the model doesn't know.
  Scene shownScene(const Scene& scene);
  /// Runs `act` on the scene as the page shows it, and takes over the result. The bundled model's setup is
  /// taken over only if `act` changed the setup or the comparison, or left the page.
  void onShown(Scene& scene, const std::function<void(Scene&)>& act);
  /// The same actions, each run through onShown().
  std::vector<Action> onShown(std::vector<Action> actions);
  /// Makes it the scene's model.
  void open(Scene& scene);
  /// Actions for its example texts. Returns them once, after they have been read.
  std::vector<Action> moreActions() { return std::exchange(more_, {}); }

 private:
  void readExamples();
  std::vector<Action> exampleActions(const std::shared_ptr<const Learned>& learned);
  void showExample(Scene& scene, const LearnedSkill& skill);
  void showPair(Scene& scene, const LearnedSkill& skill);

  PageServices& services_;
  State& page_;
  Opener& opener_;
  std::shared_ptr<const OpenModel> model_;  ///< null before it is read
  bool asked_ = false;
  std::optional<SharedText> text_;  ///< the last text checked for unknown words
  bool known_ = false;              ///< the model knows every word of it
  std::vector<Action> more_;        ///< not returned yet
};

/// The file of texts on which every head is measured, and the run over it.
class StudiedTexts {
 public:
  StudiedTexts(PageServices& services, State& page, BundledModel& bundled)
      : services_(services), page_(page), bundled_(bundled), run_(services.workers, services.resources) {}

  /// Copies the run's progress to the page. Returns whether it has changed.
  bool take();
  /// Reads the file that the scene names and starts the run, if the view of many texts is shown.
  void ask(const Scene& scene);
  /// Reads a file in the background and shows the view of many texts.
  void open(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Drops the results and the file, which is read again when the view is next shown.
  void forget();
  std::vector<Action> actions();

 private:
  void takeFile(const std::string& name, std::shared_ptr<const TextFile> file);
  void read(const Scene& scene);

  PageServices& services_;
  State& page_;
  BundledModel& bundled_;
  TextsRun run_;
};

}  // namespace headscope::app::model_page

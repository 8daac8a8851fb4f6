#pragma once

#include <atomic>

#include "app/compute/heads/head_studies.h"
#include "app/compute/model/pair_study.h"
#include "app/compute/model/text_study.h"
#include "app/kit/rows.h"
#include "app/kit/shown.h"
#include "app/pages/common/page.h"
#include "app/pages/model/model_pictures.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/panel.h"

namespace headscope::app::model_page {

/// State of the view of many texts.
struct StudyState {
  bool shown = false;  ///< the view is on screen
  TextsRun::Progress progress;
  std::shared_ptr<const TextFile> file;  ///< null before one is opened
  std::string name;                      ///< CompareSetup::texts of `file`, or of the one being read
  bool begins = false;                   ///< the run over the file starts when the view is next shown
  std::string problem;                   ///< why the file can't be read
  bool stale = false;                    ///< the model has changed since the results were computed

  Index first = 0;  ///< the table's top row

  /// The key of `texts`: the texts with the chosen head's largest values in a column.
  struct Found {
    std::shared_ptr<const TextsStudy> study;
    std::string column;
    std::pair<Index, Index> head{-1, -1};
    bool operator==(const Found&) const = default;
  };
  Found found;
  std::vector<TextOfHead> texts;
};

/// A forecast of the top prediction's probability without some heads.
struct Forecast {
  std::string words;  ///< "this head", "all 5 “previous token”"
  ForecastQuestion question;
  bool operator==(const Forecast&) const = default;
};

/// A cell of one of a layer's heads.
struct Spot {
  Index layer = 0;
  Cell cell;
  bool operator==(const Spot&) const = default;
};

/// The layers of a model that have been computed so far.
struct ArrivingLayers {
  const OpenModel* model = nullptr;
  Layers layers;
};

/// How much a head copies what it reads.
struct HeadCopying {
  double score = 0;
};

/// A question about B's heads, or B − A, to show in place of A's.
struct ComparedQuestion {
  std::shared_ptr<const ModelStudy> a, b;
  bool difference = false;
  std::vector<attention::TokenTie> ties;
  bool operator==(const ComparedQuestion&) const = default;
};

/// Zoom and scroll position of a large model's thumbnails.
struct OverviewZoom {
  float pitch = 0;        ///< pixels from thumbnail to thumbnail; 0: small enough that all are visible
  ImVec2 scroll;          ///< of scrolling, in pixels
  float steps = 0;        ///< zoom steps requested by keys; applied and reset in the next frame
  bool dragging = false;  ///< the mouse button was pressed on a thumbnail and is still down
  bool dragged = false;   ///< the thumbnails have moved since that press
  std::pair<Index, Index> lastChosen{0, 0};
};

/// A generated token while its replacement is being typed.
struct EditedToken {
  Index token = -1;  ///< −1: none
  std::string text, before;
  bool justOpened = false;
  bool wasWriting = false;  ///< generation resumes when editing ends
  bool entered = false;     ///< typing is finished; the word replaces the token in this frame
  std::string problem;
};

/// Text generation, and the part of the text that the strip shows.
struct Writing {
  bool on = false;  ///< generation is running
  double wroteAt = 0;
  bool followsLast = false;  ///< the query moves to the last token once the text has been studied
  Index stripFrom = -1;      ///< the strip's first token; −1: the strip ends at the last token
  EditedToken edit;
};

/// Progress of the study that is under way.
struct StudyProgress {
  Index arrived = 0;  ///< layers computed so far; equals the layers shown if nothing is under way
  std::optional<ModelQuestion> stopped;  ///< the question that the user paused
};

/// What is known about heads, and which of them is shown large.
struct HeadState {
  std::map<std::pair<Index, Index>, double> copying;  ///< by layer and head: how much the head copies
  std::map<std::pair<Index, Index>, HeadCompositions> compositions;  ///< by layer and head
  std::vector<Forecast> forecasts;  ///< those requested for the selected head
  Index hoverLayer = 0;             ///< layer of view.nextHover.head
  Spot previewed;                   ///< shown large: what is hovered, otherwise what is selected
};

/// The model that the page shows.
struct ShownModel {
  /// The scene's model, or the synthetic layers that were last run; null without one.
  std::shared_ptr<const OpenModel> opened;
  const attention::ModelConfig* config = nullptr;  ///< of `opened`, or &awaited; null without a model
  attention::ModelConfig awaited;                  ///< shape of synthetic layers that haven't been run yet
  bool example = false;                            ///< no model is open, so the bundled one is shown
  Index layersRead = 0;   ///< layers that have been read from the model's file since it was opened
  bool headRead = false;  ///< the map to the vocabulary has been read too
  std::map<Index, std::string> words;  ///< readable token text by id

  /// Whether tokens are patches of a picture, possibly one yet to be opened. No text is read or written then.
  bool readsPictures() const { return opened && (opened->readsPictures() || opened->picture); }
  /// Whether synthetic layers are shown, which make no predictions.
  bool isSynthetic() const { return config && !config->family && !(opened && opened->recorded); }
  /// Whether the model can predict tokens. If not, Model::whyNoPredictions() has the reason.
  bool predictsTokens() const { return !opened || !opened->model || opened->model->predictsTokens(); }
  /// Whether the model classifies pictures.
  bool classifies() const { return opened && opened->model && opened->model->classifies(); }
  bool predicts() const { return predictsTokens() || classifies(); }
  /// Whether its answers can be explained, and measured over many texts.
  bool answers() const { return opened && opened->model && predictsTokens() && !isSynthetic(); }
};

/// The models that can be opened, and the one that is being opened.
struct Opening {
  std::string name, problem;        ///< of the model being opened; why opening failed
  std::vector<CachedModel> cached;  ///< models on this machine
  bool lookedForCached = false;
  /// Recently opened models, newest first; `there` is false if the file no longer exists.
  struct Recent {
    std::string path, name;
    bool there = true;
  };
  std::vector<Recent> recent;
  bool lookedForRecent = false;
  std::string wanted;     ///< folder or file of the model chosen in this frame
  std::string forgotten;  ///< path to remove from the recent models
};

/// A second recording to compare with the scene's.
struct OtherRecording {
  std::string name;  ///< CompareSetup::recorded
  std::shared_ptr<const OpenModel> opened;
  std::string problem;
};

/// State of the model page that isn't part of the scene. Its panels may change it.
struct State {
  explicit State(PageServices& services);

  View& view;
  ShownModel model;
  /// The layers as drawn: those of `study`, or already some of the next study or of text B.
  Layers layers;
  StudyProgress run;
  HeadState head;
  Index tying = -1;                   ///< the token of B that the user is aligning with one of A; −1: none
  std::atomic<Index> pointedRow = 0;  ///< the grid row under the pointer, which is computed first
  OtherRecording other;
  StudyState texts;  ///< measurements of every head over many texts
  Pictures pictures;
  OverviewZoom zoom;  ///< of a model with small thumbnails
  Writing writing;
  Opening opening;
  std::optional<Cell> awaitedCell;  ///< becomes the cursor's cell once its text has been studied
  std::vector<const attention::Detector*> named;  ///< detectors with a single head in the headline

  Arriving<ArrivingLayers> arriving;                        ///< of the study under way
  ShownSet shown;                                           ///< all answers
  Shown<ModelQuestion, ModelStudy> study;                   ///< of the scene's text
  Shown<ModelQuestion, StreamStudy> unchanged;              ///< without the scene's changes of the model
  ShownSet details;                                         ///< about the study's predictions and heads
  Shown<PredictionQuestion, TokenPredictions> predictions;  ///< after the query
  Shown<StripQuestion, std::vector<StripPrediction>> strip;
  Shown<std::vector<Forecast>, std::vector<float>> forecast;
  Shown<HeadLossQuestion, HeadLosses> losses;
  Shown<CopyingQuestion, HeadCopying> copying;
  Shown<CompositionQuestion, HeadCompositions> compositions;
  Shown<RecordedQuestion, RecordedRule> recorded;
  ShownSet pairs;  ///< about one text or two
  Shown<PairQuestion, PairStudy> pair;
  Shown<ModelQuestion, ModelStudy> studyOfB;
  Shown<ComparedQuestion, Layers> compared;  ///< see shownCompared()
  Shown<PatchGridQuestion, PatchGrid> headGrid, tokenGrid;
  Shown<PatchSumQuestion, PatchSum> sum;
  Shown<AttributionQuestion, AttributionStudy> attribution;
  Shown<LensQuestion, LensMap> lens, lensOfB;

  void takeStudy(const ModelStudy& next);
  /// Takes the layers of the shown model that have been computed so far.
  void takeArriving();

  /// The picture whose patches are the study's tokens; null if they aren't a picture's.
  const OpenPicture* picture() const {
    const OpenPicture* found = study && study->opened ? study->opened->picture.get() : nullptr;
    return found && found->tokenCount() == study->tokens() ? found : nullptr;
  }
  /// The rollout of the layers below `layer`; null for the first layer or without a rollout.
  const attention::Matrix* rolloutBelow(Index layer) const {
    return study && layer > 0 && layer <= std::ssize(study->rollout)
               ? &study->rollout[static_cast<std::size_t>(layer - 1)]
               : nullptr;
  }
  bool ready() const { return study && !layers.empty() && study->tokens() > 0; }
  Index tokens() const { return study ? study->tokens() : 0; }
  /// The number of queries; differs from tokens() only if queries are of another text.
  Index queries() const { return study ? study->queries() : 0; }
  const LayerSummary* layer(Index at) const {
    return at >= 0 && at < static_cast<Index>(layers.size()) ? layers[static_cast<std::size_t>(at)].get()
                                                             : nullptr;
  }
  /// The layer on the studied text; null if it shows another text, or nothing yet.
  const LayerSummary* studied(Index at) const {
    const LayerSummary* found = layer(at);
    return found && found->weights.rows() == queries() && found->weights.cols() == keys() ? found : nullptr;
  }
  const HeadSummary* summary(Index at, Index head) const {
    const LayerSummary* found = layer(at);
    return found && head < static_cast<Index>(found->heads.size())
               ? &found->heads[static_cast<std::size_t>(head)]
               : nullptr;
  }
  const std::string& token(Index at) const { return study->text.tokens[static_cast<std::size_t>(at)].text; }
  Index keys() const { return study ? study->keys() : 0; }
  const std::string& keyToken(Index at) const {
    return study->keyTokens()[static_cast<std::size_t>(at)].text;
  }
  const std::string& queryToken(Index at) const {
    return study->queryTokens()[static_cast<std::size_t>(at)].text;
  }
  /// What the current study's predictions lose without each head; null if unknown.
  const HeadLosses* currentLosses() const { return losses.of({study.shared()}); }
  /// Why A and B can't be compared; "" if they can.
  std::string comparedProblem() const {
    return studyOfB.problem().empty() ? compared.problem() : studyOfB.problem();
  }
  /// How well the current study's tokens are predicted; null if unknown.
  const std::vector<StripPrediction>* foreseen() const {
    return strip && strip.request().study == study.shared() ? strip.newest() : nullptr;
  }
  /// The text of a token by its id, or the name of a class if the model classifies pictures; "—" for −1.
  const std::string& word(Index id);
  /// The text of the predicted token; "—" if its probability is NaN.
  const std::string& word(const Prediction& guess) {
    return word(std::isnan(guess.probability) ? -1 : guess.id);
  }
};

/// Whether a view is drawn as a figure, without its neighbours.
inline bool isFigure(const View& view) {
  return view.figure && view.figure->alone;
}
/// The absolute path, without "." and "..".
std::string fullPath(const std::filesystem::path& path);
/// "one", "two", … "twelve", then digits.
std::string numberWord(Index number);
/// Paints how much of a slow computation is done, as a line along the area's upper edge.
void paintProgress(const View& view, const ImRect& area, float share);
/// "0.418"; small values as "4·10⁻⁴".
std::string probabilityText(float probability);
/// The filter's name for a head: its detector's title, or "mixed".
std::string filterName(const attention::HeadLabel& label);
/// Whether the label is a learned behaviour (previous token, induction, same token, offset) rather than a way
/// of attending to nothing in particular.
bool isDeliberate(const attention::HeadLabel& label);
bool isOff(const Scene& scene, Index layer, Index head);
/// Switches a head off, or back on.
void switchHead(Scene& scene, Index layer, Index head);
/// The heads of B or B − A if they are shown in place of A's, else null.
const Layers* shownCompared(const Scene& scene, const State& page);
/// Whether B − A is shown; the values at the ends of the heads' colours; and the colormap.
bool showsDifference(const Scene& scene, const State& page);
ValueRange shownRange(const Scene& scene, const State& page);
render::Colormap shownColours(const Scene& scene, const State& page);
/// Their labels on a colour bar.
BarLabels shownLabels(const Scene& scene, const State& page);
/// The heads of a layer in display order, from left to right.
std::vector<Index> headOrder(const Scene& scene, const State& page, Index layer);

/// Shows the skill's text, and the head that implements it if known.
void showSkill(Scene& scene, Writing& writing, const LearnedSkill& skill);

// The panels.
void sidePanel(Scene& scene, State& page, const Layout& layout);
/// The experts that tokens were routed to; draws nothing unless the model is a mixture of experts.
void expertSection(Rows& rows, Scene& scene, State& page);
/// Draws all heads of all layers in `area`, with what they add to the residual stream, or another view.
void overviewPanel(Scene& scene, State& page, const ImRect& area, std::string_view named = "");
/// Explains how to open a picture, for a model that needs one.
void pictureWanted(View& view, const ImRect& area);
/// Left panel, for models that read pictures and recordings with one: the picture, and the map laid over it.
void pictureSection(Rows& rows, Scene& scene, State& page);
/// Draws the previewed head's map over the picture, enlarged. Returns the bottom y.
float largePicture(Scene& scene, State& page, ImVec2 at, float width, float height);
/// The token whose patch is under the pointer if the picture is centred in `area`.
std::optional<Index> patchUnder(const OpenPicture& picture, const ImRect& area, ImVec2 pointer);
/// Draws a head's map over the picture as a thumbnail.
void paintPictureThumbnail(const Scene& scene, const State& page, const ImRect& tile, Index layer,
                           Index head);
/// The right panel: the previewed head, and what is known `about` the selected one.
void headPanel(Scene& scene, State& page, const Layout& layout, bool about);
/// Details of the selected recorded weight, below the large head.
void recordedPanel(Rows& rows, const Scene& scene, State& page);
void stripPanel(Scene& scene, State& page, const ImRect& area, bool folded);
/// Explains that the bundled model is an example, and offers to open another.
void exampleSection(Rows& rows, Opening& opening);
/// The models that can be opened, shown if none is.
void openingPanel(View& view, Opening& opening, const ImRect& area);

/// A sentence on how the scene's changes affect the query's prediction; empty if they don't or it is unknown.
std::vector<CaptionPart> changeCaption(const Scene& scene, const State& page);
/// The model's predictions, the `most` likely ones first.
void predictionSection(Rows& rows, Scene& scene, State& page, std::size_t most);
/// The heads of other layers that the chosen head reads, and those that read it.
void compositionSection(Rows& rows, Scene& scene, State& page);
/// The text that the model reads, and its tokens.
void textSection(Rows& rows, Scene& scene, State& page);
/// Requests another group of an encoder–decoder's heads, given by its name.
void wantGroup(const Scene& scene, Opening& opening, std::string_view group);

}  // namespace headscope::app::model_page

#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/heads/head_composition.h"
#include "app/compute/heads/head_copying.h"
#include "app/compute/jobs/answer.h"
#include "app/compute/layer/value_range.h"
#include "app/compute/model/head_losses.h"
#include "app/compute/model/model_guesses.h"
#include "app/compute/model/recorded_receipt.h"
#include "app/pages/model/model_pictures.h"
#include "app/pages/model/pair_answers.h"
#include "app/pages/model/study_state.h"
#include "app/scene/models/model_cache.h"
#include "app/widgets/caption.h"
#include "app/widgets/layout.h"

namespace headscope::app::model_page {

/// What would be left of a guess without some heads.
struct Forecast {
  std::string words;  ///< "this head", "all 5 previous token heads"
  ForecastQuestion question;
  bool operator==(const Forecast&) const = default;
};

/// What the pointer rests on.
struct Spot {
  Index layer, head, query;
  bool operator==(const Spot&) const = default;
};

using StudyAnswer = Answered<ModelQuestion, ModelStudy>;
using StreamAnswer = Answered<ModelQuestion, StreamStudy>;
using GuessAnswer = Answered<GuessQuestion, Guesses>;
using StripAnswer = Answered<StripQuestion, std::vector<Foreseen>>;
using LossAnswer = Answered<HeadLossQuestion, HeadLosses>;
using RecordedAnswer = Answered<RecordedQuestion, RecordedRule>;
using CopyingAnswer = Answered<CopyingQuestion, double>;
using ForecastAnswer = Answered<std::vector<Forecast>, std::vector<float>>;

/// How far the thumbnails of a large model are enlarged, which part of them is in sight, and how they are
/// moved.
struct OverviewZoom {
  float pitch = 0;        ///< pixels from thumbnail to thumbnail; 0: so many that all are in sight
  ImVec2 scroll;          ///< pixels
  float steps = 0;        ///< that a key asks for
  bool dragging = false;  ///< a button of the mouse went down on a thumbnail,
  bool dragged = false;   ///< and they were moved since
  std::pair<Index, Index> lastChosen{0, 0};
};

/// A token that the model wrote, while another word is typed in its place.
struct EditedToken {
  Index token = -1;  ///< −1: none
  std::string text, before;
  bool justOpened = false;
  bool wasWriting = false;  ///< the model goes on by itself when the word is there
  bool entered = false;     ///< it is, and is to be taken over
  std::string problem;
};

/// How the text goes on, in the strip.
struct Writing {
  bool on = false;  ///< the model writes on by itself
  double wroteAt = 0;
  bool followsLast = false;  ///< the query becomes the last token when it has been read
  Index stripFrom = -1;      ///< the first column of the strip; −1: the last token is in sight
  EditedToken edit;
};

/// How far the study has come that is under way.
struct StudyProgress {
  Index arrived = 0;    ///< layers of it that have come; = all that are drawn where none is under way
  std::string problem;  ///< why there is no study of what is asked
  double busySeconds = 0;
  std::optional<ModelQuestion> stopped;  ///< what is not computed to its end, because the person said so
};

/// What is known of the next token: after the query, after every token, and without the scene's changes.
struct Predictions {
  std::shared_ptr<const StreamStudy> unchanged;  ///< null where the scene changes nothing of the model
  std::shared_ptr<const GuessAnswer> guesses;
  std::shared_ptr<const StripAnswer> strip;
};

/// How heads are looked at, and what is known of those that were.
struct HeadState {
  std::shared_ptr<const ForecastAnswer> forecast;
  std::shared_ptr<const LossAnswer> losses;
  std::shared_ptr<const RecordedAnswer> recorded;
  std::map<std::pair<Index, Index>, double> copying;                 ///< by layer and head
  std::map<std::pair<Index, Index>, HeadCompositions> compositions;  ///< the same
  std::vector<Forecast> forecasts;  ///< that are asked for: what the pointer rests on
  double restingSince = -1;         ///< the pointer, on one head and query
  bool asked = false;               ///< a patch was clicked: it is no query that the pointer only crosses
  bool held = false;                ///< the large head stays, wherever one points
  Index hoverLayer = 0;             ///< of view.hover.head

  /// What heads are worth to that study; null where it isn't known.
  const HeadLosses* lossesOf(const std::shared_ptr<const ModelStudy>& study) const {
    return losses && losses->request.study == study && losses->value ? &*losses->value : nullptr;
  }
};

/// The model that the page is about.
struct ShownModel {
  /// The scene's model, or the layers made here that were run last; null without one.
  std::shared_ptr<const OpenModel> opened;
  const attention::ModelConfig* config = nullptr;  ///< of these; null without one
  attention::ModelConfig awaited;                  ///< of layers made here, before they were run
  bool example = false;   ///< no model is open: what is shown is the bundled one, and not the scene's
  Index layersRead = 0;   ///< of the model's, since it was opened: what of its file was read
  bool headRead = false;  ///< and of its map to the vocabulary
  std::map<Index, std::string> words;  ///< of ids, as people read them

  /// Whether tokens are patches, now or once there is a picture: no text is read or written.
  bool readsPictures() const { return opened && (opened->readsPictures() || opened->picture); }
  /// Whether it is about layers that were made here, which say nothing about tokens.
  bool madeHere() const { return config && !config->family && !(opened && opened->recorded); }
  /// Whether nothing keeps the model from guessing tokens; where it doesn't, it says why.
  bool saysTokens() const { return !opened || !opened->model || opened->model->guesses(); }
  /// Whether it says what a picture shows; where it doesn't, it says why.
  bool classifies() const { return opened && opened->model && opened->model->classifies(); }
  bool predicts() const { return saysTokens() || classifies(); }
};

/// Models that can be opened, and the one that is being.
struct Opening {
  std::string name, problem;        ///< what is being opened; why something could not be
  std::vector<CachedModel> cached;  ///< on this machine
  bool lookedForCached = false;
  /// Models that were opened before, the newest first, and whether they are there still.
  struct Recent {
    std::string path, name;
    bool there = true;
  };
  std::vector<Recent> recent;
  bool lookedForRecent = false;
  std::string wanted;     ///< the folder of the model that was chosen in this frame
  std::string forgotten;  ///< the one that leaves the list of those opened before
};

/// A second recording beside the scene's.
struct OtherRecording {
  std::string name;  ///< as the scene names it
  std::shared_ptr<const OpenModel> opened;
  std::string problem;
};

/// What the page of a model shows besides the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  ShownModel model;
  std::shared_ptr<const ModelStudy> study;  ///< the last that could be computed; null before the first
  /// What each layer does, as it is drawn: of the study, or already of the next one.
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  StudyProgress run;
  Predictions predicted;
  HeadState head;
  PairState pair;  ///< of the scene's text and text B
  OtherRecording other;
  StudyState texts;  ///< what many texts say of every head
  Pictures pictures;
  OverviewZoom zoom;  ///< of a model whose thumbnails are small
  Writing writing;
  Opening opening;
  std::optional<Cell> awaitedCell;                ///< that is looked at once the text it is of has been read
  std::vector<const attention::Detector*> named;  ///< what the headline says that one head alone does

  /// The picture whose patches the study's tokens are; null where they are others.
  const OpenPicture* picture() const {
    const OpenPicture* found = study && study->opened ? study->opened->picture.get() : nullptr;
    return found && found->tokenCount() == study->tokens() ? found : nullptr;
  }
  /// The rollout of the layers below one; null below the first.
  const attention::Matrix* rolloutBelow(Index layer) const {
    return study && layer > 0 && layer <= std::ssize(study->rollout)
               ? &study->rollout[static_cast<std::size_t>(layer - 1)]
               : nullptr;
  }
  bool ready() const { return study && !layers.empty() && study->tokens() > 0; }
  Index tokens() const { return study ? study->tokens() : 0; }
  /// As many as tokens but of attention from one text to another.
  Index queries() const { return study ? study->queries() : 0; }
  const LayerSummary* layer(Index at) const {
    return at >= 0 && at < static_cast<Index>(layers.size()) ? layers[static_cast<std::size_t>(at)].get()
                                                             : nullptr;
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
  /// What heads are worth to the study that is shown; null where that isn't known.
  const HeadLosses* currentLosses() const { return head.lossesOf(study); }
  /// A token's text by its id, of a model that classifies a class's; "—" for −1.
  const std::string& word(Index id);
  /// The guess's token; nothing is guessed where the probability is no number.
  const std::string& word(const Guess& guess) { return word(std::isnan(guess.probability) ? -1 : guess.id); }
};

/// "0.418", and small ones as "4·10⁻⁴".
std::string probabilityText(float probability);
/// What the filter calls a head: its detector's title, or "mixed".
std::string filterName(const attention::HeadLabel& label);
/// Whether this is something that was learned on purpose rather than a way to look nowhere.
bool isDeliberate(const attention::HeadLabel& label);
bool isOff(const Scene& scene, Index layer, Index head);
/// Switches a head off, or on again.
void switchHead(Scene& scene, Index layer, Index head);
/// Whether B − A is shown; the values at the ends of the heads' colours, and the colours.
bool showsDifference(const Scene& scene, const PairState& pairs);
ValueRange shownRange(const Scene& scene, const PairState& pairs);
render::Colormap shownColours(const Scene& scene, const PairState& pairs);
/// The heads of one layer as they stand from left to right.
std::vector<Index> headOrder(const Scene& scene, const State& page, Index layer);

/// The text that shows what the model learned, and the head that does it.
void showSkill(Scene& scene, Writing& writing, const LearnedSkill& skill);

// The panels.
void sidePanel(Scene& scene, State& page, const Layout& layout);
/// Of a mixture of experts: which of them the tokens went to; nothing of other models.
void expertSection(Scene& scene, State& page);
/// `area` for all heads of all layers, with what they add to the stream.
void overviewPanel(Scene& scene, State& page, const ImRect& area, bool presents);
/// Where a model that reads pictures has none: how it gets one.
void pictureWanted(View& view, const ImRect& area);
/// At the left, of a model that reads pictures or a recording with one: which picture, and what is laid over
/// it.
void pictureSection(Scene& scene, State& page);
/// The picture under a head's map, large; returns the bottom.
float largePicture(Scene& scene, State& page, ImVec2 at, float width, float height);
/// The token whose patch is under the pointer, where the picture is drawn in the middle of `area`.
std::optional<Index> patchUnder(const OpenPicture& picture, const ImRect& area, ImVec2 pointer);
/// The same over the thumbnail of a head.
void paintPictureThumbnail(const Scene& scene, const State& page, const ImRect& tile, Index layer,
                           Index head);
void headPanel(Scene& scene, State& page, const Layout& layout);
/// Below the large head of recorded attention.
void recordedPanel(const Scene& scene, const State& page);
void stripPanel(Scene& scene, State& page, const ImRect& area, bool folded);
/// That the bundled model is an example, and how another is opened.
void exampleSection(View& view, Opening& opening);
/// Where no model is open: what can be.
void openingPanel(Scene& scene, View& view, Opening& opening, const ImRect& area);

/// What the scene's changes did to the guess behind the query, in a sentence; empty where they did nothing or
/// aren't known.
std::vector<CaptionPart> changeCaption(const Scene& scene, const State& page);
/// What the model would say next, best first; below the large head.
void guessSection(Scene& scene, State& page, float width);
/// Heads of other layers that the chosen one reads, and that read it.
void compositionSection(Scene& scene, State& page, float width);
/// The text that the model reads, with its tokens.
void textSection(Scene& scene, State& page);
/// Opens another group of an encoder–decoder's heads, by its name.
void wantGroup(const Scene& scene, Opening& opening, std::string_view group);

}  // namespace headscope::app::model_page

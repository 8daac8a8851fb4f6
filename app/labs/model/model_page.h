#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/answer.h"
#include "app/compute/model_guesses.h"
#include "app/scene/model_cache.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"

namespace headscope::app {

/// What would be left of a guess without some heads.
struct Forecast {
  std::string words;  ///< "this head", "all 5 previous token heads"
  ForecastQuestion question;
  bool operator==(const Forecast&) const = default;
};

/// What the pointer rests on.
struct ModelSpot {
  Index layer, head, query;
  bool operator==(const ModelSpot&) const = default;
};

using StudyAnswer = Answered<ModelQuestion, ModelStudy>;
using StreamAnswer = Answered<ModelQuestion, StreamStudy>;
using GuessAnswer = Answered<GuessQuestion, Guesses>;
using StripAnswer = Answered<StripQuestion, std::vector<Foreseen>>;
using ForecastAnswer = Answered<std::vector<Forecast>, std::vector<float>>;

/// What the page of a model shows besides the scene: free for its panels to change.
struct ModelPage {
  explicit ModelPage(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const ModelStudy> study;  ///< the last that could be computed; null before the first
  /// What each layer does, as it is drawn: of the study, or already of the next one.
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  Index arrived = 0;    ///< layers of the next study that have come; = layers.size() where none is under way
  std::string problem;  ///< why there is no study of what is asked
  double busySeconds = 0;

  std::shared_ptr<const StreamStudy> unchanged;  ///< null where the scene changes nothing of the model
  std::shared_ptr<const GuessAnswer> guesses;
  std::shared_ptr<const StripAnswer> strip;
  std::shared_ptr<const ForecastAnswer> forecast;
  std::vector<Forecast> forecasts;  ///< that are asked for: what the pointer rests on
  double restingSince = 0;

  std::vector<EasedTextures> rows;  ///< a layer's thumbnails
  std::vector<int> rowFactor;       ///< cells of a text that are one of a thumbnail's
  EasedTextures head, cache;
  float thumbnailPixels = 64, headCell = 8;  ///< as they were drawn in the last frame
  int headFactor = 1;

  bool held = false;     ///< the large head stays, wherever one points
  Index hoverLayer = 0;  ///< of view.hover.head
  bool writing = false;  ///< the model writes on by itself
  double wroteAt = 0;
  bool followsLast = false;  ///< the query becomes the last token when it has been read
  Index stripFrom = -1;      ///< the first column of the strip; −1: the last token is in sight

  std::string opening, openProblem;  ///< the model that is being opened; why one could not be
  std::vector<CachedModel> cached;   ///< on this machine
  bool lookedForCached = false;
  std::string wanted;  ///< the folder of the model that was chosen in this frame

  const attention::ModelConfig* config = nullptr;  ///< of the scene's model; null without one
  std::map<Index, std::string> words;              ///< of ids, as people read them

  bool ready() const { return study && !layers.empty() && study->tokens() > 0; }
  Index tokens() const { return study ? study->tokens() : 0; }
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
  /// A token's text by its id.
  const std::string& word(Index id);
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
/// The heads of one layer as they stand from left to right.
std::vector<Index> headOrder(const Scene& scene, const ModelPage& page, Index layer);

// The panels.
void modelSide(Scene& scene, ModelPage& page, const Layout& layout);
/// `area` for all heads of all layers, with what they add to the stream.
void overviewPanel(Scene& scene, ModelPage& page, const ImRect& area, bool presents);
void headPanel(Scene& scene, ModelPage& page, const Layout& layout);
void stripPanel(Scene& scene, ModelPage& page, const ImRect& area, bool folded);
/// Where no model is open: what can be.
void openingPanel(Scene& scene, ModelPage& page, const ImRect& area);

/// What the model would say next, best first; below the large head.
void guessSection(Scene& scene, ModelPage& page, float width);

// Parts of the overview.

/// Where the thumbnails are.
struct OverviewPlan {
  ImRect area;
  Index layers = 0, heads = 0;
  float pitch = 0, gap = 0;  ///< from thumbnail to thumbnail, and of it the space
  float rowPitch = 0;        ///< from layer to layer
  float left = 0, top = 0;   ///< of the first thumbnail
  float columns = 0;         ///< left end of what stands beside a layer
  bool band = false;         ///< that stands under the layer instead, over its whole width
  bool stream = false;       ///< there is room for what layers add and would say
  bool label = false, score = false, belowTriangle = false;
  float scroll = 0;

  float cells() const { return pitch - gap; }
  ImRect tile(Index layer, Index column) const;
};
OverviewPlan planOverview(const View& view, const ImRect& area, Index layers, Index heads, bool causal);
/// Mean entropy, what is added to the stream, the lens selector and the guess so far, for every layer.
void streamColumns(Scene& scene, ModelPage& page, const OverviewPlan& plan);

}  // namespace headscope::app

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/heads/mistake_study.h"
#include "app/compute/heads/weight_study.h"
#include "app/compute/layer/layer_fault.h"
#include "app/kit/shown.h"
#include "app/pages/common/page.h"
#include "app/widgets/caption.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"

namespace headscope::app::head_lab_page {

using Step = PipelineStep;

inline constexpr double kPlayInterval = 1.5;  ///< seconds between steps

/// The page's view state, which its panels may change.
struct State {
  explicit State(PageServices& services)
      : view(services.view), shown(services.view, services.workers, services.resources) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;       ///< of the layer; null before the first
  std::shared_ptr<const LayerParts> layer;        ///< of the head drawn; null until computed
  std::map<std::string, EasedTextures> pictures;  ///< by Picture::name

  Index dim = -1;                  ///< selected dimension of the head's vectors; −1 = the row's largest
  Index column = -1;               ///< selected output column; −1 = the row's largest
  Index term = -1, nextTerm = -1;  ///< hovered term of the sum, in the last frame and in this one; −1 = none
  bool playing = false;
  double playedAt = 0;

  ShownSet shown;  ///< all that the page and its tabs show
  Shown<PartsQuestion, LayerParts> parts{shown, layerParts};
  Shown<HeadPartsQuestion, HeadParts> head{
      shown, headParts, {}, [this](const HeadPartsQuestion& drawn, const auto&) { layer = drawn.layer; }};
  Shown<FaultQuestion, LayerFault> fault{shown, layerFault};  ///< why the layer can't be computed
  Shown<std::shared_ptr<const HeadParts>, WeightStudy> weights{shown, studyWeights};
  Shown<MistakeQuestion, MistakeStudy> study{shown, studyMistake};
  /// For a mistake about scaling.
  Shown<attention::Mistake, std::vector<attention::SaturationPoint>> curve{
      shown, [](attention::Mistake mistake, std::stop_token stop) {
        return attention::saturation(mistake, kMistakeDims, 12, kSaturationLayers, stop);
      }};
  bool showsEntropy = false;  ///< in small windows: plot the entropy instead of the largest weight
  bool catchingUp = false;
  /// Whether there is nothing to show in detail: no tokens, or a layer that can't be computed.
  bool missing() const { return snapshot && (snapshot->error || snapshot->empty); }
  /// Why the layer's parts can't be computed; "" if they can.
  std::string problem() const { return parts.problem() + head.problem(); }
  bool small = false;     ///< little space: lists become choices in the tab line
  bool presents = false;  ///< presenting: a line below or next to the page shows the sentences
};

/// The steps of a layer. The bias step exists only if something is added to the scores or caps them.
std::vector<Step> stepsOf(const attention::AttentionConfig& config, const attention::MaskInput& mask);
/// The steps of the drawn head; before the first head, those of a plain layer.
std::vector<Step> stepsOf(const State& page);
/// A step's title as people write it: "Q·Kᵀ", "÷ √32".
std::string stepTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask, Step step);
std::string stepTitle(const State& page, Step step);
/// What acts on a score between the scale and the mask, in this order.
struct BiasTerms {
  bool distance = false;  ///< a number per distance is added
  float cap = 0;          ///< soft-cap; 0 = none
  bool cell = false;      ///< a number per cell is added

  bool adds() const { return distance || cell; }
};
BiasTerms biasTerms(const State& page);
/// Moves by `by` steps, stopping at the first and last.
void moveStep(Scene& scene, const State& page, int by);

/// The hovered query and key, else the cursor's, clamped to the drawn head.
Cell shownCell(const Scene& scene, const State& page);
/// The selected dimension and output column, with −1 resolved.
Index shownDim(const State& page, const Cell& cell);
Index shownColumn(const State& page, const Cell& cell);

/// A matrix's colours: residual stream in grey, Q, K and V in their own hues, scores in the colormap.
enum class Ink { stream, query, key, value, map };
std::uint32_t inkColor(const Theme& theme, Ink ink);

/// How to draw a matrix. Values map to colours from `low` to `high`; for a signed ramp these are ± the
/// largest magnitude. `fade`: opacity, 0 to 1.
struct Picture {
  std::string name;  ///< identifies the place; a new picture there eases in from the last one
  Ink ink = Ink::map;
  float low = 0, high = 1;
  float fade = 1;
  float gap = 0;  ///< in pixels, between cells
};
void paintPicture(State& page, const Picture& picture, const attention::Matrix& values, const ImRect& area,
                  const Look& look);
/// The largest magnitude in a picture, for a signed ramp.
float largestOf(const StagePicture& picture);

/// A letter with a subscript: "x₇".
std::string withIndex(const std::string& letter, Index index);
/// Up to three decimals, fewer for large values: "−0.975", "12.34", "123.4".
std::string cellText(double value);
/// "÷ 5.657", or "× 1.5" for a factor that enlarges.
std::string factorText(double factor);
std::string shapeText(Index rows, Index cols);

/// The head's maps and their products, with rank, singular values and copying.
void weightsView(Scene& scene, State& page, const ImRect& area, bool small);

/// The classic mistakes: the choice of one, both results, its symptoms and the fix.
void mistakesView(Scene& scene, State& page, const ImRect& area);

// The pipeline's parts. They require `page.head`.

struct FilmReel;
/// All frames side by side; a click selects a step.
void film(Scene& scene, State& page, const FilmReel& reel, const ImRect& area, bool small);
/// The film in little space: dots with the steps' names.
void foldedFilm(Scene& scene, State& page, const FilmReel& reel, const ImRect& area);
/// The selected step's matrices, as on a blackboard.
void stage(Scene& scene, State& page, const ImRect& area);
/// What the step does, as a sentence, and one cell's sum in full.
void calculationView(Scene& scene, State& page, const ImRect& area);
/// Which query heads share which kv head, one line per kv head; a click selects a head.
void groupTable(Scene& scene, State& page, const ImRect& area);
/// A description of what a step does.
struct StepWords {
  std::string title;
  std::vector<CaptionPart> sentence;
};
StepWords stepWords(const Scene& scene, const State& page);

}  // namespace headscope::app::head_lab_page

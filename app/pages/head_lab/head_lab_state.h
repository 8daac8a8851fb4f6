#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/heads/mistake_study.h"
#include "app/compute/heads/weight_study.h"
#include "app/compute/layer/layer_fault.h"
#include "app/widgets/caption.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"

namespace headscope::app::head_lab_page {

using Step = PipelineStep;

inline constexpr double kPlayInterval = 1.5;  ///< seconds a step stays before the next

/// What the lab shows beside the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;       ///< of the layer; null before the first
  std::shared_ptr<const LayerParts> layer;        ///< null until it is there
  std::shared_ptr<const HeadParts> head;          ///< what is drawn; null until it is there
  std::string problem;                            ///< why there are no parts
  std::shared_ptr<const LayerFault> fault;        ///< of a layer that can't be computed
  std::map<std::string, EasedTextures> pictures;  ///< by the name of the place

  Index dim = -1;     ///< of the head's vectors, that is worked out; −1: the largest of the row
  Index column = -1;  ///< of the output; −1: the largest of the row
  Index term = -1, nextTerm = -1;  ///< of the sum: pointed at in the last frame and in this one
  bool playing = false;
  double playedAt = 0;

  std::shared_ptr<const WeightStudy> weights;  ///< null until it is there

  std::shared_ptr<const MistakeStudy> study;                             ///< null until it is there
  std::shared_ptr<const std::vector<attention::SaturationPoint>> curve;  ///< of a mistake about scale
  bool showsEntropy = false;  ///< in small windows: the curve of the entropy, not of the largest weight
  bool catchingUp = false;
  /// Whether there is nothing to take apart: no tokens, or a layer that can't be computed.
  bool missing() const { return snapshot && (snapshot->error || snapshot->empty); }
  bool small = false;     ///< there is little room: lists are choices in the line of tabs
  bool presents = false;  ///< sentences stand in the line below the page, or beside it
};

/// The steps that a layer has: the bias only where something is added or capped.
std::vector<Step> stepsOf(const attention::AttentionConfig& config, const attention::MaskInput& mask);
/// Those of the drawn head; before the first, those of a plain layer.
std::vector<Step> stepsOf(const State& page);
/// "Q·Kᵀ", "÷ √32": as people write it.
std::string stepTitle(const attention::AttentionConfig& config, const attention::MaskInput& mask, Step step);
std::string stepTitle(const State& page, Step step);
/// What acts on a score between the scale and the mask, in that order.
struct BiasTerms {
  bool distance = false;  ///< a number for the distance is added
  float cap = 0;          ///< 0: none
  bool cell = false;      ///< a number for the cell is added

  bool adds() const { return distance || cell; }
};
BiasTerms biasTerms(const State& page);
/// Goes so many steps on, and stays inside what there is.
void moveStep(Scene& scene, const State& page, int by);

/// The query and key that are pointed at, else those of the cursor; inside what is drawn.
Cell shownCell(const Scene& scene, const State& page);
/// The dimension and the output column that are worked out.
Index shownDim(const State& page, const Cell& cell);
Index shownColumn(const State& page, const Cell& cell);

/// How a matrix is coloured: the residual stream in grey, Q, K and V in their hues, scores in the colormap.
enum class Ink { stream, query, key, value, map };
std::uint32_t inkColor(const Theme& theme, Ink ink);

/// A matrix as a picture, from `low` to `high`; signed ramps are given ± the largest amount. `fade` in 0 … 1
/// is how much of it remains. `values` are copied.
struct Picture {
  std::string name;  ///< of the place: what was there eases into what comes
  Ink ink = Ink::map;
  float low = 0, high = 1;
  float fade = 1;
  float gap = 0;  ///< pixels between cells
};
void paintPicture(State& page, const Picture& picture, const attention::Matrix& values, const ImRect& area,
                  const Look& look);
/// The ends of a signed ramp.
float largestOf(const StagePicture& picture);

/// "x₇".
std::string withIndex(const std::string& letter, Index index);
/// Three digits behind the point while there is room: "−0.975", "12.34", "123.4".
std::string cellText(double value);
/// "÷ 5.657", or "× 1.5" where it makes larger.
std::string factorText(double factor);
std::string shapeText(Index rows, Index cols);

/// The head's maps and their products, with rank, singular values and copying.
void weightsView(Scene& scene, State& page, const ImRect& area, bool small);

/// The classic mistakes: which one, both results, how to know it and the fix.
void mistakesView(Scene& scene, State& page, const ImRect& area);

// The pipeline's parts. `page.head` is there.

struct FilmReel;
/// All frames side by side; a click chooses the step.
void film(Scene& scene, State& page, const FilmReel& reel, const ImRect& area, bool small);
/// The same where there is little room: dots with the steps' names.
void foldedFilm(Scene& scene, State& page, const FilmReel& reel, const ImRect& area);
/// The lit step as on a blackboard.
void stage(Scene& scene, State& page, const ImRect& area);
/// What happens, in a sentence, and one cell's sum worked out.
void calculationView(Scene& scene, State& page, const ImRect& area);
/// Which query heads read which kv head, a line for each kv head; a click chooses the head.
void groupTable(Scene& scene, State& page, const ImRect& area);
/// What a step does, in parts of a sentence.
struct StepWords {
  std::string title;
  std::vector<CaptionPart> sentence;
};
StepWords stepWords(const Scene& scene, const State& page);

}  // namespace headscope::app::head_lab_page

#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/layer/flow_time.h"
#include "app/compute/layer/layer_parts.h"
#include "app/kit/shown.h"
#include "app/pages/common/layer_steps.h"
#include "app/pages/common/page.h"
#include "app/widgets/heat_parts.h"

namespace headscope::app::flow_page {

using Step = PipelineStep;

/// The steps of one head that the film shows, and its matrices pooled for looking.
struct FlowPictures {
  std::shared_ptr<const HeadParts> head;
  attention::HeadSteps steps;
  std::array<StagePicture, kStages> stages;
  StagePicture q, k, v;         ///< [n or m, headDim] of the head and the kv head it reads
  StagePicture keys;            ///< k transposed
  StagePicture wq, wk, wv, wo;  ///< [modelDim, headDim] three times, and [headDim, modelDim]
  MemoryShare memory;

  const StagePicture& picture(Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
};
FlowPictures flowPictures(const std::shared_ptr<const HeadParts>& head, Resources& resources,
                          std::stop_token stop = {});

/// The page's view state, which its parts may change.
struct State {
  explicit State(PageServices& services)
      : view(services.view), shown(services.view, services.workers, services.resources) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< of the layer; null before the first
  MatrixTextures textures;
  ShownSet shown;
  Shown<PartsQuestion, LayerParts> parts{shown, layerParts};
  Shown<HeadPartsQuestion, HeadParts> head{shown, headParts};
  Shown<std::shared_ptr<const HeadParts>, FlowPictures> film{shown, flowPictures};
  Shown<PartsQuestion, LayerFault> fault{shown, layerFault};  ///< why the layer can't be computed
  std::size_t terms = 14;                                     ///< of a sum that fit on the bench, as drawn
  bool playing = false;
  FlowCursor stopAt;    ///< where playing stops
  double playedAt = 0;  ///< time of the frame that was drawn last while playing

  std::string problem() const { return parts.problem() + head.problem(); }
  /// Whether the layer can't be taken apart.
  bool missing() const { return (snapshot && (snapshot->error || snapshot->empty)) || !problem().empty(); }
  bool ready() const { return film && !missing(); }
  /// Plays from now on to that moment.
  void playTo(const FlowCursor& end) {
    playing = true;
    stopAt = end;
    playedAt = view.time;
  }
};

/// A softmax's sum. A head's sink takes part like a key's score.
struct SoftmaxSum {
  Index key = -1;                 ///< with the largest score; −1 = none is visible
  double largest = 0, whole = 0;  ///< score; Σ exp(score − largest), 0 if there is nothing to sum
};

/// What one frame of the film shows: a head, a cell of it, and a moment.
struct Shot {
  const FlowPictures& film;
  const HeadParts& head;
  const LayerParts& layer;
  const SequenceSnapshot& sequence;
  const attention::AttentionConfig& config;
  Look look;
  Cell cell;     ///< the selected one, inside the head
  Index column;  ///< of the output: the selected row's largest
  std::vector<Step> steps;
  FlowCursor at;

  Index n() const { return film.steps.dots.rows(); }
  Index m() const { return film.steps.dots.cols(); }
  Index kvHead() const { return config.kvHeadOf(cell.head); }
  bool cross() const { return layer.context.size() > 0; }
  bool biased() const { return film.steps.biased.size() > 0; }
  const std::string& query(Index i) const { return sequence.queries[static_cast<std::size_t>(i)].text; }
  const std::string& key(Index j) const { return sequence.keys[static_cast<std::size_t>(j)].text; }
  bool visible(Index i, Index j) const { return sequence.attention.scores.at(cell.head, i, j) != -INFINITY; }
  /// A cell's score after the step, before masking for steps before the mask.
  double score(Step step, Index i, Index j) const;
  double weight(Index i, Index j) const {
    return static_cast<double>(sequence.probabilities().at(cell.head, i, j));
  }
  /// Softmax over the keys that the selected query sees, of the step's scores.
  SoftmaxSum softmax(Step step) const;
  /// How many heads have moved to their slots, the last perhaps in part.
  double headsMoved() const;
  /// Whether the stage is about the selected row: a bar for each key.
  bool ofRow() const { return at.stage >= Step::scale && at.stage <= Step::softmax; }
  /// What the step `scale` does, in a word.
  const char* scaling() const { return film.steps.factor < 1 ? "division" : "factor"; }
  /// How far the moment is into a stage: 0 before it, 1 after it.
  double into(Step step) const { return at.stage < step ? 0 : at.stage > step ? 1 : at.t; }
};
/// The frame of the film at the scene's moment. Requires `page.film`.
Shot shotOf(const Scene& scene, const State& page);

/// What a moment does, in words.
struct ShotWords {
  std::string title;
  std::vector<CaptionPart> sentence;
};
ShotWords shotWords(const Shot& shot, const Theme& theme);

/// A sum that grows term by term.
struct GrowingSum {
  struct Term {
    Index at = -1;  ///< in both factors; −1 = several, or a bias
    std::string label;
    double a = 0, b = 0, product = 0;
    Index count = 1;  ///< products that it stands for
  };
  std::string formula;        ///< "s_{7,6} = Σ q_7[c] · k_6[c]"
  std::string a, b, product;  ///< what the columns hold; a or b may be empty
  std::uint32_t aColor = 0, bColor = 0;
  std::vector<Term> terms;
  std::size_t done = 0;  ///< terms that have been added
  double falling = 0;    ///< how much of the next one's way to the sum has passed
  std::string note;      ///< below the sum
  /// How many products the first `terms` terms stand for.
  Index products(std::size_t terms) const;
  /// The sum of the terms that have been added.
  double sum() const;
};
/// Σ a[c]·b[c], with its largest terms if there are more than `most`. `share`: how many have been added.
GrowingSum growingSum(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                      const Eigen::Ref<const Eigen::RowVectorXf>& b, std::size_t most, double share);
/// The sum that a moment of the stages Q·Kᵀ, ·V and ·W_O works on, and of Q, K, V.
GrowingSum sumOf(const Shot& shot, const Theme& theme, std::size_t most);

/// The places of the film's matrices, in pixels; empty where the stage can do without one and room is short.
/// Rows of tokens lie on the floor; what can be read stands on a shelf above: row from the left × column from
/// above = cell.
struct FlowPlan {
  float names = 0;  ///< right end of the rows' names
  ImRect floor;     ///< from there to the right end, as high as the rows
  ImRect x, deck, q, s, o, concat, y;
  ImRect keys, values, wo;               ///< on the shelf: Kᵀ over S, V over O, W_O over Y
  ImRect floorK, floorV;                 ///< where K and V are made
  ImRect wq, wk, wv;                     ///< over Q and them
  ImRect formula;                        ///< the corner above X and Q
  float ledge = 0;                       ///< y of the shelf's edge
  ImVec2 cell;                           ///< of S
  bool poster = false, mapOnly = false;  ///< mapOnly: S alone, next to a large bench

  ImRect cellAt(Index i, Index j) const;
  /// A token's row of a matrix on the floor with that many rows.
  static ImRect rowOf(const ImRect& matrix, Index row, Index rows);
  static ImRect columnOf(const ImRect& matrix, Index column, Index columns);
};
FlowPlan planFlow(const View& view, const Shot& shot, const ImRect& area);

/// What a bias step does to scores named so: "S + bias", "cap(S)".
std::vector<attention::TermKind> biasKinds(const Shot& shot);
std::string biasText(const Shot& shot, const std::string& scores);
/// The values at the ends of the colours of S in a step's numbers.
ValueRange scoreRange(const Shot& shot, Step step);
/// Covers the rows that a stage hasn't made yet.
void coverRows(const View& view, const Shot& shot, const ImRect& box, const RowsDone& done, Index rows);
/// S in the stage's numbers, with the tokens' names. A click selects a cell.
void flowScores(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan);
/// Draws the matrices, and what moves between them.
void flowMap(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan);
/// What moves at this moment, over the matrices.
void flowMoves(State& page, const Shot& shot, const FlowPlan& plan);
/// The selected row's or cell's numbers.
void flowBench(State& page, const Shot& shot, const ImRect& area);
/// The same for the stages between a product and a weight, as bars.
void flowBars(State& page, const Shot& shot, const ImRect& area);
/// The stages with their beats: a track to scrub.
void flowTrack(Scene& scene, State& page, const Shot& shot, const ImRect& area);
/// The buttons and beats below the picture.
void flowControls(Scene& scene, State& page, const Shot& shot, const ImRect& area);

/// A layer's computation as a film: ten stages from the words to what the layer writes, to play, step and
/// scrub. Every number is the snapshot's.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  bool take(const Scene& scene) override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  void reset() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  FigureLegend legend(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const State& state() const { return page_; }

 private:
  void play(Scene& scene);
  void step(Scene& scene, bool forward);

  PageServices& services_;
  State page_;
  CursorFit fit_;
};

}  // namespace headscope::app::flow_page

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/snapshot.h"
#include "app/kit/board.h"
#include "app/kit/shown.h"
#include "app/pages/common/cache_bands.h"
#include "app/pages/common/page.h"
#include "app/scene/model_fit.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/panel.h"
#include "attention/core/tensor.h"

namespace headscope::app::cache_page {

using attention::asSize;
using attention::Index;

/// Columns from … to−1 that are fading in from dark.
struct ComingColumns {
  Index from = 0, to = 0;
  float light = 1;  ///< 0 = dark, 1 = full
};

/// The field's animation at one moment.
struct FieldMoment {
  float playhead = 0;                 ///< left edge of the playhead, in tokens
  std::vector<ComingColumns> coming;  ///< in order of arrival
  Index fromKvHeads = 0;  ///< bands glide from their places for this many kv heads; 0 = not gliding
  float glide = 1;        ///< progress of the glide, 0 to 1

  /// The brightness of a token's column, 0 to 1.
  float light(Index token) const;
};

/// The animation from the field's last frame to its current state. A step takes kStepSeconds, a change of the
/// kv heads kGlideSeconds. Only the picture moves; numbers change at once.
class FieldMotion {
 public:
  static constexpr double kStepSeconds = 0.12, kGlideSeconds = 0.24;

  /// The state in one frame.
  struct Shown {
    Index tokens = 0, heads = 0, kvHeads = 0;
    Index now = 0;          ///< tokens in the cache
    bool decoding = false;  ///< the playhead is visible
  };

  /// Call once per frame. Without `ease`, or if the number of tokens or heads changed, nothing is animated.
  void observe(const Shown& shown, double time, bool ease);
  /// Treats the next state as the first, without animation.
  void reset() { *this = {}; }
  bool moving(double time) const;
  bool gliding(double time) const { return fromKvHeads_ > 0 && time < glidesAt_ + kGlideSeconds; }
  FieldMoment at(double time) const;

 private:
  struct Arrival {
    Index from, to;
    double at;
  };
  float playheadAt(double time) const;

  std::optional<Shown> shown_;
  std::vector<Arrival> arrivals_;
  float stepFrom_ = 0;  ///< where the playhead was when the step began
  double stepAt_ = -1, glidesAt_ = -1;
  Index fromKvHeads_ = 0;
};

/// The values that the head sliders offer, and the settings they depend on.
struct HeadStops {
  ModelSetup model;
  WeightSetup weights;
  EmbeddingSource embedding = EmbeddingSource::text;
  ChosenHeads chosen;
  std::vector<Index> heads = {}, kvHeads = {};  ///< ascending
};
struct HeadSliders {
  ChosenHeads chosen;
  HeadStops stops;
};

/// The field's pictures from before the kv heads changed, kept while their bands glide.
struct LeavingBands {
  EasedTextures textures;
  Index kvHeads = 0, tokenGrain = 1;
};

/// How the picture of all tokens' keys and values is drawn.
struct FieldDrawing {
  LeavingBands leaving;
  FieldMotion motion;
  Index bandPixels = 32, columnPixels = 1024;  ///< size as drawn, which limits the detail its picture needs
};

/// The page's view state, which its panels may change.
struct State {
  explicit State(PageServices& services);

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< the snapshot drawn; null before the first
  ShownSet shown;
  Shown<FieldQuestion, CacheField> field;
  Shown<ProofQuestion, DecodeProof> proof;
  Shown<PrecisionQuestion, PrecisionStudy>
      precision;                                    ///< pictures: the stored keys, the weights' differences
  Shown<ShapesQuestion, ShapesStudy> shapes;        ///< picture: the weights
  Shown<EvictionQuestion, EvictionStudy> eviction;  ///< picture: the weights
  Shown<PagingQuestion, PagingStudy> paging;
  FieldDrawing drawing;
  Index pagingStep = 12;
  HeadSliders heads;
  bool catchingUp = false;
  Playback play;
  Index filling = -1;  ///< tokens in the cache while the prefill is incomplete; −1 = complete
};

/// The state of the decode that is shown, and its range.
struct DecodeState {
  Index tokens = 0, prefill = 0;
  Index chunk = 1;       ///< tokens that the prefill processes at once
  Index now = 0;         ///< tokens in the cache
  Index before = 0;      ///< the same, one step earlier
  std::string reason;    ///< why there is nothing to decode; "" = decoding is possible
  bool turnsOn = false;  ///< a causal mask would fix that
};
DecodeState decodeState(const Scene& scene, const State& page);
/// The same for any sequence of the page's snapshot, at the same step.
DecodeState decodeState(const Scene& scene, const State& page, const SequenceSnapshot& sequence);

/// What each step of the shown sequence reads and computes; null if there is no answer yet for this snapshot
/// and sequence, or nothing to decode.
const CacheField* shownField(const Scene& scene, const State& page);

/// Operations of the current step in all layers, with the cache and if everything were recomputed without it.
struct StepWork {
  double with = 0, without = 0;
};
StepWork stepWork(const Scene& scene, const DecodeState& state, const CacheField& field);

// Moves through the decode, as made by the buttons, keys and Play.
enum class DecodeMove { first, back, forward, last, play };
void moveDecode(Scene& scene, State& page, DecodeMove move);
/// The same for the current view: in the paging view, moves through its schedule.
void moveView(Scene& scene, State& page, DecodeMove move);
/// Moves to a number of tokens in the cache.
void jumpDecode(Scene& scene, State& page, Index tokens);

// The panels.
void controls(Scene& scene, State& page, const Layout& layout);
void sidePanel(Scene& scene, State& page, const Layout& layout);
void transport(Scene& scene, State& page, Board& board);
void growthView(Scene& scene, State& page, Board& board);
void shapesView(Scene& scene, State& page, Board& board);
void precisionView(Scene& scene, State& page, Board& board);
void evictionView(Scene& scene, State& page, Board& board);
void pagingView(Scene& scene, State& page, Board& board);

/// If a view has nothing to show (error, no tokens, pending answer), says why and returns true.
bool viewIsEmpty(const Scene& scene, const State& page, Board& board, const std::string& problem, bool waits);
/// What the colours of the current view mean.
FigureLegend viewLegend(const Scene& scene, const State& page);
/// That legend as a line of the board, after words in the first wording that fits.
Board& viewKey(const Scene& scene, const State& page, Board& board, const std::vector<std::string>& wordings);
/// Draws one picture of a stack, in a frame.
void paintPicture(const View& view, const EasedTextures& textures, int layer, const ImRect& area,
                  const render::HeatmapStyle& style, const ValueRange& range);
/// Draws the queries' tokens left of the picture if `first` of its row, and the keys' below `keysBelow`.
void paintNames(const Scene& scene, const View& view, const ImRect& map,
                const std::vector<attention::Token>& tokens, const NameRoom& room, bool first,
                float keysBelow);
/// The head whose pictures the views show, clamped to the layer's heads.
Index viewHead(const Scene& scene, const attention::AttentionConfig& config);
/// An output error as text: "0.31 %", "2·10⁻⁷".
std::string errorText(double error);
/// How many dimensions of all the layer's keys positions rotate; a rotary key can't have more.
Index turnedDims(const std::shared_ptr<const Snapshot>& snapshot);

/// The layout of the field's tokens and heads: the common axis of brackets, columns, tokens and step curves.
struct FieldPlace : BandPlan {
  Index prefill = 0;
  FieldMoment moment;  ///< the current animation

  float playheadX() const { return cells.Min.x + column() * moment.playhead; }
};
/// The same cells with another number of kv heads.
FieldPlace withKvHeads(const View& view, FieldPlace place, Index kvHeads);
FieldPlace fieldPlace(const View& view, const attention::AttentionConfig& config, const DecodeState& state,
                      const ImRect& cells);

/// Draws the field, with its labels from `labelLeft` on and right of its cells.
void paintField(const Scene& scene, State& page, const FieldPlace& place, float labelLeft);
/// Draws the bytes after each token, on a scale that stays the same during the decode.
void paintStairs(const Scene& scene, const State& page, const FieldPlace& place, const ImRect& area);

/// The layer's KV cache, growing token by token, and what makes it smaller.
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
  bool showsSide(const Scene& scene) const override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  FigureLegend legend(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  double nextFrameIn() const override;
  std::size_t gpuBytes() const override;

  const State& state() const { return page_; }

 private:
  std::string viewCaption(const Scene& scene) const;
  void advancePlay(Scene& scene);
  void handleKeys(Scene& scene);
  /// Requests what the current view needs of the layer.
  void askView(const Scene& scene, const std::shared_ptr<const Snapshot>& snapshot);

  PageServices& services_;
  State page_;
  CursorFit fit_;
  double speed_ = 2;  ///< steps per second, from the current scene
};

}  // namespace headscope::app::cache_page

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/cache/cache_bytes.h"
#include "app/compute/cache/cache_field.h"
#include "app/compute/cache/cache_studies.h"
#include "app/compute/cache/decode_proof.h"
#include "app/compute/cache/paging_study.h"
#include "app/compute/jobs/answer.h"
#include "app/pages/cache/cache_motion.h"
#include "app/pages/common/cache_bands.h"
#include "app/pages/common/playing.h"
#include "app/scene/model_fit.h"
#include "app/widgets/caption.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/layout.h"
#include "app/widgets/text/token_labels.h"

namespace headscope::app::cache_page {

/// What the sliders of heads can be set to, and what that depends on.
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

/// The field's pictures as they were before the kv heads changed, while their bands glide.
struct LeavingBands {
  EasedTextures textures;
  Index kvHeads = 0, tokenGrain = 1;
};

/// Keys and values of all tokens, as they are drawn.
struct FieldPicture {
  std::shared_ptr<const Answered<FieldQuestion, CacheField>> answer;
  EasedTextures textures;
  LeavingBands leaving;
  FieldMotion motion;
  Index bandPixels = 32, columnPixels = 1024;  ///< as it was drawn: how coarse its picture may be
  bool alone = false;  ///< there is little room, and words beside the page speak of the field
};

// What each of the other views shows.

struct PrecisionPictures {
  std::shared_ptr<const Answered<PrecisionQuestion, PrecisionStudy>> answer;
  EasedTextures storedKeys, differences;
};
struct ShapesPictures {
  std::shared_ptr<const Answered<ShapesQuestion, ShapesStudy>> answer;
  EasedTextures weights;
};
struct EvictionPictures {
  std::shared_ptr<const Answered<EvictionQuestion, EvictionStudy>> answer;
  EasedTextures weights;
};
struct PagingSchedule {
  std::shared_ptr<const Answered<PagingQuestion, PagingStudy>> answer;
  Index step = 12;
};

/// What the cache page shows besides the scene: free for its panels to change.
struct State {
  explicit State(View& window) : view(window) {}

  View& view;
  std::shared_ptr<const Snapshot> snapshot;  ///< what is drawn; null before the first
  std::shared_ptr<const Answered<ProofQuestion, DecodeProof>> proof;
  FieldPicture field;
  PrecisionPictures precision;
  ShapesPictures shapes;
  EvictionPictures eviction;
  PagingSchedule paging;
  HeadSliders heads;
  bool catchingUp = false;
  Playing play;
  Index filling = -1;  ///< tokens there are while the prefill is not complete; −1 = it is
};

/// The decode that is shown: how far it is, and where it can go.
struct DecodeState {
  Index tokens = 0, prefill = 0;
  Index chunk = 1;       ///< tokens that the prefill takes in at once
  Index now = 0;         ///< tokens in the cache
  Index before = 0;      ///< in the step before
  std::string reason;    ///< why nothing can be decoded; "" = it can
  bool turnsOn = false;  ///< a causal mask would help
};
DecodeState decodeState(const Scene& scene, const State& page);
/// The same of any line of the batch, at the same step; `sequence` is one of the page's snapshot.
DecodeState decodeState(const Scene& scene, const State& page, const SequenceSnapshot& sequence);

/// What each step of the shown line reads and computes; null while only another layer's or line's is there,
/// and where nothing can be decoded.
const CacheField* shownField(const Scene& scene, const State& page);

/// Operations of the step that is shown, in all layers, with the cache and had everything to be computed
/// again.
struct StepWork {
  double with = 0, without = 0;
};
StepWork stepWork(const Scene& scene, const DecodeState& state, const CacheField& field);

// Ways through the decode: what the buttons, keys and Play do.
enum class DecodeMove { first, back, forward, last, play };
void moveDecode(Scene& scene, State& page, DecodeMove move);
/// The same in the room that is shown: of paging, through its schedule.
void moveView(Scene& scene, State& page, DecodeMove move);
/// To a number of tokens.
void jumpDecode(Scene& scene, State& page, Index tokens);

// The panels.
void controls(Scene& scene, State& page, const Layout& layout);
void sidePanel(Scene& scene, State& page, const Layout& layout);
void transport(Scene& scene, State& page, const ImRect& area, bool small);
void growthView(Scene& scene, State& page, const ImRect& area, bool small);
void shapesView(Scene& scene, State& page, const ImRect& area, bool small);
void precisionView(Scene& scene, State& page, const ImRect& area, bool small);
void evictionView(Scene& scene, State& page, const ImRect& area, bool small);
void pagingView(Scene& scene, State& page, const ImRect& area, bool small);

/// One figure, the sentence that says what it means, and the rest, both in the first wording that there is
/// room for; returns where it ends.
float viewHeadline(const View& view, const ImRect& area, const std::string& figure,
                   const std::vector<std::string>& sentence, const std::vector<std::string>& rest,
                   bool small);
/// Says why a room has nothing to show, where that is so: an error, no tokens, or an answer that is on its
/// way.
bool viewIsEmpty(const Scene& scene, State& page, const ImRect& area, const std::string& problem, bool waits);
/// One picture of a stack, in a frame.
void paintPicture(const View& view, const EasedTextures& textures, int layer, const ImRect& area,
                  const render::HeatmapStyle& style, const ValueRange& range);
/// Names of queries left of the picture, where it is the first of its row, and of keys below `keysBelow`.
void paintNames(const Scene& scene, const View& view, const ImRect& map,
                const std::vector<attention::Token>& tokens, const NameRoom& room, bool first,
                float keysBelow);
/// The head whose pictures the rooms show, of those there are.
Index viewHead(const Scene& scene, const attention::AttentionConfig& config);
/// "0.31 %", "2·10⁻⁷": how far off outputs are.
std::string errorText(double error);
/// Dimensions of all keys of the layer that positions turn: what a rotary key can have at the most.
Index turnedDims(const std::shared_ptr<const Snapshot>& snapshot);

/// Where the field's tokens and heads lie: one axis for brackets, columns, tokens and stairs.
struct FieldPlace : BandPlan {
  Index prefill = 0;
  FieldMoment moment;  ///< what is on its way

  float playheadX() const { return cells.Min.x + column() * moment.playhead; }
};
/// The same cells with another number of kv heads.
FieldPlace withKvHeads(const View& view, FieldPlace place, Index kvHeads);
FieldPlace fieldPlace(const View& view, const attention::AttentionConfig& config, const DecodeState& state,
                      const ImRect& cells);

void paintField(const Scene& scene, State& page, const FieldPlace& place, float labelLeft, float labelRight,
                bool small);
/// Bytes after each token, on a scale that never changes.
void paintStairs(const Scene& scene, State& page, const FieldPlace& place, const ImRect& area,
                 float labelRight, bool small);

}  // namespace headscope::app::cache_page

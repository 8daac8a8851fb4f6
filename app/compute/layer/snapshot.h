#pragma once

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/line_tokens.h"
#include "attention/heads/detectors.h"
#include "attention/masks/statistics.h"

namespace headscope::app {

/// All heads at one size: weights and scores, with masked cells and dead rows marked as in render/heatmap.h.
/// factor × factor cells are max-pooled into one, so that a single bright cell stays visible.
struct PictureLevel {
  int factor = 1;
  attention::Stack weights, scores;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  attention::Stack dropped;          ///< the weights after dropout; empty if there is none
  const attention::Stack& of(Quantity quantity) const {
    return quantity == Quantity::scores                       ? scores
           : quantity == Quantity::weights || dropped.empty() ? weights
                                                              : dropped;
  }
};

/// Pictures of the heads from fine to coarse, each level half the size of the one before.
struct HeadPictures {
  static constexpr Index kFinest = 512, kCoarsest = 48;  ///< cells along the longer side

  std::vector<PictureLevel> levels;
  std::vector<float> maxWeight;           ///< [heads], after dropout; never below the maximum before it
  std::vector<float> minScore, maxScore;  ///< [heads], over finite scores; 0 if there are none
  float aroundZero = 0;  ///< ends of a scale around 0 for recorded weights of which some are negative; else 0

  /// Returns the finest level whose cells are at least one pixel large when the longer side of a head takes
  /// `pixels`.
  const PictureLevel& levelFor(float pixels) const;
};

/// `probabilities`: the weights before dropout; result.weights itself if there is none.
HeadPictures drawPictures(const attention::AttentionResult& result, const attention::Stack& probabilities,
                          std::stop_token stop);

/// Returns one head of `values` [heads, n, m], which belong to `result`, with marks, max-pooled by `factor`:
/// [⌈n/factor⌉, ⌈m/factor⌉].
attention::Matrix drawHead(const attention::AttentionResult& result, const attention::Stack& values,
                           Index head, int factor);

/// The values at the ends of a colormap.
struct ValueRange {
  float low = 0, high = 1;
  bool logarithmic = false;
};

/// Returns the range for one head, as set in Look.
ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head);
/// Returns the range for the weights of many heads on one scale: 0 to 1, or 10⁻⁴ to 1 if Look is logarithmic.
ValueRange weightRange(const Look& look);
render::Colormap colormapFor(const Look& look);
/// Returns the look with colours around 0 if the pictures have negative weights.
Look lookFor(Look look, const HeadPictures& pictures);

/// How the cached decode compares with the full causal pass.
struct DecodeCheck {
  bool applies = false;     ///< only causal self-attention can be decoded step by step
  Index prefill = 0;        ///< tokens processed at once
  Index steps = 0;          ///< single-token steps run after the prefill
  float maxDifference = 0;  ///< largest |Δ| between the rows of both outputs
};

/// The same queries, keys and values under the scene's second mask.
struct OtherMask {
  std::shared_ptr<const attention::MaskFormula> formula;
  attention::AttentionResult attention;  ///< without k and v, which are those of the first mask
  HeadPictures pictures;
  attention::MaskComparison comparison;
  attention::Stack undropped;  ///< as SequenceSnapshot::undropped
  const attention::Stack& probabilities() const { return undropped.empty() ? attention.weights : undropped; }
};

/// How merging kv heads moved a head's weight.
struct HeadDrift {
  float moved = 0;    ///< mean of ½ Σⱼ |w − w before| over the rows that see several keys, 0 to 1
  bool even = false;  ///< it reads all keys that a row sees alike, before and after: no key can move it
};

/// The result for one line of the batch.
struct SequenceSnapshot {
  std::vector<attention::Token> queries;  ///< [n], padded to the longest line
  std::vector<attention::Token> keys;     ///< [m], equal to queries for self-attention
  std::vector<Index> ids;                 ///< [n] of an opened model's tokens; otherwise empty
  Index queryLength = 0, keyLength = 0;   ///< without padding
  attention::MaskInput mask;
  attention::AttentionResult attention;
  attention::Stack undropped;  ///< [heads, n, m] the weights before dropout; empty without dropout
  std::vector<attention::HeadProfile> profiles;  ///< [heads]
  std::vector<HeadDrift> drift;                  ///< [heads]; empty if no kv heads were merged
  HeadPictures pictures;
  attention::Stack cacheBands;  ///< cachePicture() in the grain below; empty if not requested
  Index bandDims = 0, bandTokens = 0;
  DecodeCheck decode;
  std::optional<OtherMask> other;  ///< if the scene compares masks

  /// Returns the head's label; `threshold` is the detector score above even attention that a label needs.
  attention::HeadLabel label(Index head, float threshold = attention::kLabelThreshold) const {
    return attention::labelHead(profiles[static_cast<std::size_t>(head)], threshold);
  }
  /// Returns the softmax's probabilities, before dropout: [heads, n, m].
  const attention::Stack& probabilities() const { return undropped.empty() ? attention.weights : undropped; }
  /// Returns the values in a picture of that quantity: [heads, n, m].
  const attention::Stack& values(Quantity quantity) const {
    return quantity == Quantity::scores    ? attention.scores
           : quantity == Quantity::dropped ? attention.weights
                                           : probabilities();
  }
};

/// Returns the key with the largest of a row's weights among the first `keys`: the first of several that
/// differ by rounding alone, which depends on the processor. −1 if none is above 0.
template <typename Row>
Index strongestKey(const Row& weights, Index keys) {
  Index strongest = -1;
  for (Index key = 0; key < std::min<Index>(keys, weights.size()); ++key)
    if (weights[key] > 0 && (strongest < 0 || weights[key] > weights[strongest] * (1 + 1e-5f)))
      strongest = key;
  return strongest;
}

/// Everything computed from one Setup: either `error`, or `empty` (no tokens were typed), or sequences.
struct Snapshot {
  Setup setup;  ///< what this was computed from
  attention::AttentionConfig config;
  bool causal = false;  ///< self-attention in which no query of any line sees a later key
  /// If no causal layer hides later keys: the titles of layers that hide all of them by themselves.
  std::vector<std::string> hidesFuture;
  std::optional<PlacedError> error;
  std::string notFinite;  ///< why a model's layer has values that aren't finite, in a sentence; "" = it has
                          ///< none
  bool empty = true;
  std::vector<SequenceSnapshot> sequences;
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< memory held by this snapshot's matrices
  MemoryShare memory;       ///< the same, counted in the budget
};

struct Resources;

/// Returns how far merging moved the weights of the sequence's heads, [heads], by computing the layer before
/// the merge from its `projections` and `input`: another pass of attention, without the output's projection.
/// Empty if `stop` was requested.
std::vector<HeadDrift> headDrift(attention::AttentionConfig config, const attention::Projections& projections,
                                 const LineInput& input, const SequenceSnapshot& sequence,
                                 std::stop_token stop);

/// Pure: the same Setup gives the same Snapshot (weight files are read again if they have changed). Never
/// throws for anything a user can enter. If `stop` is requested, the result is incomplete and must be
/// discarded.
Snapshot computeSnapshot(const Setup& setup, Resources& resources, std::stop_token stop = {});
/// The same with temporary Resources.
Snapshot computeSnapshot(const Setup& setup, const Limits& limits, std::stop_token stop = {});

/// Returns the error that belongs to `place`, or null.
const PlacedError* errorAt(const Snapshot* snapshot, Place place);
/// Returns the shown sequence, or null if there is none. `snapshot` may be null.
const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot);

/// Returns everything computed from a scene, and its inputs, as a file that attend can read back: its arrays,
/// its inputs (x, context, projections, mask, attn_mask) and options. Under snapshot.*, it holds what attend
/// has no name for: the biases on the scores, the second mask and its arrays, the tokens, the scene, and, if
/// the scene decodes, the cursor's step and the cache there. Several lines get a leading batch axis.
/// `snapshot` must come from `scene` with the same `resources` and have sequences.
attention::Result<attention::SafetensorsFile> snapshotFile(const Scene& scene, const Snapshot& snapshot,
                                                           Resources& resources);

/// The scene's computed layer, shared by several pages.
class ComputedLayer {
 public:
  /// Both must outlive it.
  ComputedLayer(Workers& workers, Resources& resources);

  /// Replaces computeSnapshot(). Call before the first ask().
  using Compute = std::function<Snapshot(const Setup&, Resources&, std::stop_token)>;
  void computeWith(Compute compute) { compute_ = std::move(compute); }
  void ask(const Setup& setup, Lane lane) {
    asked_ = true;
    answer_.ask(setup, lane);
  }
  /// Sets a function that is called on the worker with every new snapshot, for work that would delay the
  /// frame that shows it. Call before the first ask().
  using Prepare = std::function<void(Snapshot&, std::stop_token)>;
  void prepareWith(Prepare prepare) { prepare_ = std::move(prepare); }
  /// Whether ask() was called since the last takeAsked().
  bool takeAsked() { return std::exchange(asked_, false); }
  /// Drops the current snapshot and any computation in progress; snapshot() is null again.
  void forget();
  /// Takes the newest answer. Returns whether there was a new one.
  bool take();
  /// Returns the last snapshot taken; null before the first.
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }
  bool upToDate(const Setup& setup) const { return snapshot_ && snapshot_->setup == setup; }
  double busySeconds() const { return answer_.busySeconds(); }

 private:
  Compute compute_;
  std::shared_ptr<const Answered<Setup, Snapshot>> taken_;
  std::shared_ptr<const Snapshot> snapshot_;
  bool asked_ = false;
  Prepare prepare_;
  Answer<Setup, Snapshot> answer_;
};

/// Keeps the cursor inside the shown snapshot and remembers where it was meant to be. While a text is retyped
/// it is briefly short; once the wanted position fits again, it returns.
class CursorFit {
 public:
  /// Moves sequence, head, cell and decode step inside `snapshot`, the one shown, which may be of an earlier
  /// setup. A key that nobody chose becomes the row's largest weight. `decodes`: whether the page shows the
  /// cache at the decode step, if decoding.
  void apply(Cursor& cursor, const Snapshot& snapshot, bool decodes);
  /// Forgets all wanted positions. Call when a scene was opened.
  void reset() { *this = {}; }

 private:
  /// The wanted value, and the value it was fitted to in the last frame.
  template <typename T>
  struct Wanted {
    std::optional<T> fitted;
    T wanted{};
    const T& of(const T& now) {
      if (now != fitted) wanted = now;
      return wanted;
    }
  };
  Wanted<Index> sequence_, focus_, step_;
  Wanted<Cell> cell_;
};

}  // namespace headscope::app

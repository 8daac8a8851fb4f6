#pragma once

#include <array>
#include <optional>
#include <stop_token>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/pictures.h"
#include "app/compute/layer/placed_error.h"
#include "app/scene/scene.h"
#include "attention/core/attention.h"
#include "attention/heads/detectors.h"
#include "attention/masks/compare.h"

namespace headscope::app {

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

/// The result for one line of the batch.
struct SequenceSnapshot {
  std::vector<attention::Token> queries;  ///< [n], padded to the longest line
  std::vector<attention::Token> keys;     ///< [m], equal to queries for self-attention
  Index queryLength = 0, keyLength = 0;   ///< without padding
  attention::MaskInput mask;
  attention::AttentionResult attention;
  attention::Stack undropped;  ///< [heads, n, m] the weights before dropout; empty without dropout
  std::vector<attention::HeadProfile> profiles;  ///< [heads]
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

}  // namespace headscope::app

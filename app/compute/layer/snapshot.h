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
  bool applies = false;     ///< only a causal self-attention can be decoded step by step
  Index prefill = 0;        ///< tokens taken in at once
  Index steps = 0;          ///< single-token steps that were run after it
  float maxDifference = 0;  ///< largest |Δ| between the rows of both outputs
};

/// The same queries, keys and values under the scene's second mask.
struct OtherMask {
  std::shared_ptr<const attention::MaskFormula> formula;
  attention::AttentionResult attention;  ///< without k and v, which are the first's
  HeadPictures pictures;
  attention::MaskComparison comparison;
  attention::Stack undropped;  ///< as SequenceSnapshot::undropped
  const attention::Stack& probabilities() const { return undropped.empty() ? attention.weights : undropped; }
};

/// One line of the batch, computed.
struct SequenceSnapshot {
  std::vector<attention::Token> queries;  ///< [n], padded to the longest line
  std::vector<attention::Token> keys;     ///< [m], the same as queries in self-attention
  Index queryLength = 0, keyLength = 0;   ///< without padding
  attention::MaskInput mask;
  attention::AttentionResult attention;
  attention::Stack
      undropped;  ///< [heads, n, m] the weights before dropout, where there is dropout; else empty
  std::vector<attention::HeadProfile> profiles;  ///< [heads]
  HeadPictures pictures;
  attention::Stack cacheBands;  ///< cachePicture in the grain below; empty where nobody asked for it
  Index bandDims = 0, bandTokens = 0;
  DecodeCheck decode;
  std::optional<OtherMask> other;  ///< when the scene compares

  /// What a head is called, from that score above even attention on.
  attention::HeadLabel label(Index head, float threshold = attention::kLabelThreshold) const {
    return attention::labelHead(profiles[static_cast<std::size_t>(head)], threshold);
  }
  /// The softmax's probabilities, before dropout: [heads, n, m].
  const attention::Stack& probabilities() const { return undropped.empty() ? attention.weights : undropped; }
  /// What a picture of that quantity shows: [heads, n, m].
  const attention::Stack& values(Quantity quantity) const {
    return quantity == Quantity::scores    ? attention.scores
           : quantity == Quantity::dropped ? attention.weights
                                           : probabilities();
  }
};

/// Everything computed from one Setup. Either `error`, or `empty` (no tokens were typed), or sequences.
struct Snapshot {
  Setup setup;  ///< what this was computed from
  attention::AttentionConfig config;
  bool causal = false;  ///< self-attention in which no query of any line sees a later key
  /// Where no layer called causal hides the future: the titles of those that do, each by itself.
  std::vector<std::string> hidesFuture;
  std::optional<PlacedError> error;
  std::string notFinite;  ///< why numbers of a model's layer aren't, in a sentence; "": they are
  bool empty = true;
  std::vector<SequenceSnapshot> sequences;
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< memory held by this snapshot's matrices
  MemoryShare memory;       ///< the same, as a part of the budget
};

struct Resources;

/// Pure: the same Setup gives the same Snapshot (weights from files are read anew, or from memory where the
/// file has not changed). Never throws for anything a person can enter. When `stop` is requested, what it
/// returns is incomplete and to be dropped.
Snapshot computeSnapshot(const Setup& setup, Resources& resources, std::stop_token stop = {});
/// The same by itself, with nothing else alive and nothing kept.
Snapshot computeSnapshot(const Setup& setup, const Limits& limits, std::stop_token stop = {});

/// The error that belongs to `place`, or null.
const PlacedError* errorAt(const Snapshot* snapshot, Place place);
/// The sequence that is shown, or null when there is none. `snapshot` may be null.
const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot);

}  // namespace headscope::app

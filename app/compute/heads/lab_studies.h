#pragma once

#include <array>
#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/shared_value.h"
#include "attention/heads/head_steps.h"
#include "attention/heads/head_views.h"
#include "attention/heads/mistakes.h"
#include "attention/heads/vector_geometry.h"

namespace headscope::app {

/// What each head of a layer adds to its output, and the output without the heads that are switched off.
struct AblationStudy {
  std::shared_ptr<const LayerParts> question;
  attention::HeadShares shares;  ///< of the layer with every head on
  attention::Matrix whole;       ///< [n, modelDim] the output with every head on
  std::vector<Index> off;        ///< heads that the scene switches off, ascending
  attention::Vector together;    ///< [n] ‖Δoutput‖ / ‖output‖ without those; zeros if there are none
};

/// Pure. The result is incomplete if `stop` is requested.
AblationStudy studyAblation(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop = {});

/// Patches one head of a layer with its weights on another text.
struct PatchQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0;
  SharedText text;
  bool operator==(const PatchQuestion&) const = default;
};

/// Activation patching of a pattern (Wang et al. 2022, Interpretability in the Wild): A' of the other text
/// with the V of this one.
struct PatchStudy {
  PatchQuestion question;
  std::shared_ptr<const Snapshot> other;  ///< the same layer on the other text
  attention::Matrix weights;              ///< [n, m] the patched weights
  attention::Matrix headOutput;           ///< [n, headDim] weights · V
  attention::Matrix output;               ///< [n, modelDim] with the patch
  attention::Vector change;               ///< [n] ‖Δoutput‖ / ‖output‖
  attention::Vector headChange;           ///< [n] ‖Δ head output‖ / ‖head output‖

  const SequenceSnapshot& sequence() const { return other->sequences.front(); }
};

/// Returns an Error if the other text is invalid or has a different number of tokens, or "stopped" if `stop`
/// is requested.
attention::Result<std::shared_ptr<const PatchStudy>> studyPatch(const PatchQuestion& question,
                                                                Resources& resources,
                                                                std::stop_token stop = {});

/// The values that make up one query's output.
struct HullQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, query = 0;
  bool operator==(const HullQuestion&) const = default;
};

/// A head's output is a mean of its values with weights that sum to 1, so it lies inside their convex hull.
/// Shown in the plane of the values' first two principal components.
struct HullStudy {
  HullQuestion question;
  attention::Plane plane;
  attention::Matrix values;    ///< [m, 2]
  std::vector<Index> corners;  ///< of the hull of the visible values, counter-clockwise
  std::vector<bool> visible;   ///< [m] by this query
  attention::Vector weights;   ///< [m]
  attention::Matrix outputs;   ///< [n, 2] of all queries
  double outside = 0;          ///< the distance of the query's output from the hull; 0 = inside
  double size = 0;             ///< the largest |coordinate|: the scale by which to judge `outside`
  bool mixes = true;           ///< whether the weights sum to 1: some key is visible and there is no dropout
};

/// Pure.
HullStudy studyHull(const HullQuestion& question);

/// The plane on which embeddings are shown: two dimensions, or the first two principal components if either
/// index is −1.
struct EmbeddingAxes {
  Index first = -1, second = -1;
  bool principal() const { return first < 0 || second < 0; }
  bool operator==(const EmbeddingAxes&) const = default;
};

/// The embeddings of one line of a scene, for editing.
struct EmbeddingQuestion {
  Setup setup;  ///< from embeddingQuestion(): fields that have no effect keep their defaults
  Index sequence = 0;
  EmbeddingAxes axes;
  /// Principal components to keep while the table changes, so that the view doesn't turn during a drag; null:
  /// those of the table.
  std::shared_ptr<const attention::Plane> kept;
  bool operator==(const EmbeddingQuestion&) const = default;
};
EmbeddingQuestion embeddingQuestion(const Setup& setup, Index sequence, EmbeddingAxes axes,
                                    std::shared_ptr<const attention::Plane> kept);

struct EmbeddingStudy {
  EmbeddingQuestion question;
  attention::Table table;  ///< [n, modelDim] without positions
  std::shared_ptr<const attention::Plane> plane;
  bool keptPlane = false;      ///< whether `plane` comes from an earlier table
  attention::Matrix points;    ///< [n, 2] in the plane
  attention::Matrix overview;  ///< the table, pooled by the value farthest from 0
  float largest = 1;           ///< the largest |value|
};

/// Returns an Error if the text or its embedding is invalid, or if the vectors can't be edited because they
/// are a model's or there are two texts.
attention::Result<std::shared_ptr<const EmbeddingStudy>> studyEmbedding(const EmbeddingQuestion& question);

/// Fills a study, of which only the question and the table are set, with what is drawn of the table.
void placeWords(EmbeddingStudy& study);

/// A classic mistake, demonstrated on a random layer or on one head of a finished computation.
struct MistakeQuestion {
  attention::Mistake mistake = attention::Mistake::noScale;
  Index headDim = 512;                       ///< of the random layer, if the mistake is about scale
  std::shared_ptr<const Snapshot> snapshot;  ///< null: the random layer
  Index sequence = 0, head = 0;
  bool operator==(const MistakeQuestion&) const = default;
};

inline constexpr Index kSaturationLayers = 16;
inline constexpr std::uint64_t kDemonstrationSeed = 10;

struct MistakeStudy {
  MistakeQuestion question;
  attention::MistakeResult result;
  std::vector<attention::Token> queries, keys;
  Index heads = 0, kvHeads = 0, headDim = 0, head = 0;
  bool omitsTerms = false;  ///< whether the layer's position biases or soft-cap are left out here
};

/// Whether the mistake is about scale, and therefore depends on the dimension.
bool aboutScale(attention::Mistake mistake);

/// Pure. The snapshot, if any, must have the sequence and the head.
MistakeStudy studyMistake(const MistakeQuestion& question);

}  // namespace headscope::app

#pragma once

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "attention/heads/principal_plane.h"

namespace headscope::app {

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

}  // namespace headscope::app

#pragma once

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "attention/heads/principal_plane.h"

namespace headscope::app {

/// What tokens' own vectors are seen from: the plane of two dimensions, or of the first two principal
/// components, −1 each.
struct EmbeddingAxes {
  Index first = -1, second = -1;
  bool principal() const { return first < 0 || second < 0; }
  bool operator==(const EmbeddingAxes&) const = default;
};

/// The embeddings of one line of a scene, to be changed by hand.
struct EmbeddingQuestion {
  Setup setup;  ///< by embeddingQuestion(): what takes no part is left at its default
  Index sequence = 0;
  EmbeddingAxes axes;
  /// Principal components that stay although the table changes, so that nothing turns while it is dragged;
  /// null: those of the table.
  std::shared_ptr<const attention::Plane> kept;
  bool operator==(const EmbeddingQuestion&) const = default;
};
EmbeddingQuestion embeddingQuestion(const Setup& setup, Index sequence, EmbeddingAxes axes,
                                    std::shared_ptr<const attention::Plane> kept);

struct EmbeddingStudy {
  EmbeddingQuestion question;
  attention::Table table;  ///< [n, modelDim] without what tells places apart
  std::shared_ptr<const attention::Plane> plane;
  bool keptPlane = false;      ///< it is the components of an earlier table
  attention::Matrix points;    ///< [n, 2] on the plane
  attention::Matrix overview;  ///< the table pooled by the number farthest from 0
  float largest = 1;           ///< the largest |value|
};

/// Errors: what the text and its embedding refuse, and why these vectors can't be changed by hand: they are a
/// model's, or there are two texts.
attention::Result<std::shared_ptr<const EmbeddingStudy>> studyEmbedding(const EmbeddingQuestion& question);

}  // namespace headscope::app

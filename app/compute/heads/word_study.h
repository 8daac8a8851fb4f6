#pragma once

#include "app/compute/heads/lab_studies.h"

namespace headscope::app {

/// The vectors of the words that a scene shows. In cross-attention, the rows of the text that is read follow
/// those of the text that reads.
struct WordStudy : EmbeddingStudy {
  Index queries = 0;                ///< words of the text that reads: the first rows
  Index wordAt = 0, wordCount = 0;  ///< the dimensions that hold the word; others are flags and positions
  bool learned = false;             ///< a model's vectors; else random or typed ones
  std::string fixed;                ///< why they can't be edited, in a sentence; "" = they can
};

/// Returns an Error if the text is invalid or empty, or if its words have no vectors, as in recordings.
attention::Result<std::shared_ptr<const WordStudy>> studyWords(const EmbeddingQuestion& question);

/// What a word's new vector changed: one sequence of a snapshot before, one of a snapshot now.
struct ChangeQuestion {
  std::shared_ptr<const Snapshot> before, now;
  Index sequenceBefore = 0, sequence = 0;
  bool operator==(const ChangeQuestion&) const = default;
};

/// A weight counts as changed if it moved by more than this.
inline constexpr float kChangedWeight = 0.01f;

struct HeadChanges {
  std::vector<Index> cells;  ///< [heads] of weights that changed; empty if the shapes differ
};
/// Pure.
HeadChanges studyChanges(const ChangeQuestion& question);

}  // namespace headscope::app

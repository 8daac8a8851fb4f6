#pragma once

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// Which word a head is to read, and what may change for it.
struct AimQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0, query = 0, key = 0;
  Index wordAt = 0, wordCount = 0;  ///< the dimensions that hold the word
  bool operator==(const AimQuestion&) const = default;
};

/// A change of the query's vector after which the head reads the key most.
struct WordAim {
  Eigen::RowVectorXf change;  ///< [modelDim], 0 outside the word's dimensions
  float share = 0;            ///< of the row that the key has then
};

/// The share of a row that aimWord() asks for.
inline constexpr float kAimedShare = 0.6f;

/// Finds the shortest change of the query's word after which `key` gets kAimedShare of the head's row: the
/// scores of other words must be lower by at least ln(share · others / (1 − share)), and each is linear in
/// the query's vector. The query's own key changes with it, so this is repeated with the new one. Pure.
/// Returns an Error if no change does it, and says whether another head would follow the words.
attention::Result<WordAim> aimWord(const AimQuestion& question, Resources& resources, std::stop_token stop);

}  // namespace headscope::app

#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/layer/snapshot.h"
#include "attention/heads/mistakes.h"

namespace headscope::app {

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

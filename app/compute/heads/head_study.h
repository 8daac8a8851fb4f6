#pragma once

#include <memory>
#include <stop_token>

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// What the mask studio asks about one head of a finished computation.
struct HeadQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0;
  bool operator==(const HeadQuestion&) const = default;
};

/// Signed values around 0, factor × factor cells in one: the one farthest from 0. Masked and dead cells are
/// marked as render/heatmap.h says.
struct SignedPicture {
  attention::Matrix values;
  int factor = 1;
  float extreme = 0;  ///< the largest |value|
};

struct HeadStudy {
  HeadQuestion question;
  SignedPicture bias;        ///< what position biases and the additive matrix add to the scores
  SignedPicture effect;      ///< weights minus what they would be without biases and soft-cap
  SignedPicture difference;  ///< weights under the second mask minus those under the first
  bool biased = false;       ///< whether anything is added or capped at all
  MemoryShare memory;        ///< what it takes of the budget, where that is counted
};

/// Pure; works from the queries and keys the snapshot holds. A sequence or head beyond the last is the last;
/// of an empty snapshot the study is empty.
HeadStudy studyHead(const HeadQuestion& question, std::stop_token stop = {});

/// What its pictures take.
std::uint64_t bytesOf(const HeadStudy& study);

}  // namespace headscope::app

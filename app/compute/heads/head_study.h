#pragma once

#include <memory>
#include <stop_token>

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// The mask studio's question about one head of a finished computation.
struct HeadQuestion {
  std::shared_ptr<const Snapshot> snapshot;
  Index sequence = 0, head = 0;
  bool operator==(const HeadQuestion&) const = default;
};

/// Signed values around 0, pooled over factor × factor cells by the value farthest from 0. Masked and dead
/// cells have the marks of render/heatmap.h.
struct SignedPicture {
  attention::Matrix values;
  int factor = 1;
  float extreme = 0;  ///< the largest |value|
};

struct HeadStudy {
  HeadQuestion question;
  SignedPicture bias;        ///< what position biases and the additive matrix add to the scores
  SignedPicture effect;      ///< weights minus those without biases and soft-cap
  SignedPicture difference;  ///< weights under the second mask minus those under the first
  bool biased = false;       ///< whether anything is added or capped
  MemoryShare memory;        ///< the study's share of the budget, if it is counted
};

/// Pure; uses the queries and keys in the snapshot. A sequence or head index past the end means the last one.
/// The study of an empty snapshot is empty.
HeadStudy studyHead(const HeadQuestion& question, std::stop_token stop = {});

/// Returns the bytes of the study's pictures.
std::uint64_t bytesOf(const HeadStudy& study);

}  // namespace headscope::app

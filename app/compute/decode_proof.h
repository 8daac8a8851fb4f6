#pragma once

#include <optional>
#include <stop_token>

#include "app/compute/resources.h"
#include "app/compute/snapshot.h"

namespace headscope::app {

/// How far outputs [n, modelDim] of a cached decode and of the full pass may be apart when both are right.
/// They round the same sums in another order, and rounding a sum of t terms is off by about √t epsilons
/// (Higham & Mary 2019): a score by that of ‖q‖·‖k‖, a softmax by twice what its scores are, and an output by
/// that of the largest one, over its keys and dimensions. What the program takes for equal, and its tests.
float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence);

/// Where a head's output in the cached decode is furthest from the full pass's.
struct DecodeFault {
  Index head = 0;
  Index token = 0;             ///< whose query it is
  float cached = 0, full = 0;  ///< the one number of the head's output [n, headDim], computed both ways
};

/// What DecodeCheck::maxDifference says.
struct DecodeProof {
  float tolerance = 0;
  std::optional<DecodeFault> fault;  ///< looked for where the difference is above the tolerance

  bool holds() const { return !fault; }
};

/// Pure. Incomplete once `stop` is requested.
DecodeProof proveDecode(const Snapshot& snapshot, Index sequence, Resources& resources,
                        std::stop_token stop = {});

}  // namespace headscope::app

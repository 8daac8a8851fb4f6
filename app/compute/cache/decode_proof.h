#pragma once

#include <memory>
#include <stop_token>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// How far outputs [n, modelDim] of a cached decode and of the full pass may be apart when both are right.
/// They round the same sums in another order, and rounding a sum of t terms is off by about √t epsilons
/// (Higham & Mary 2019): a score by that of ‖q‖·‖k‖, a softmax by twice what its scores are, and an output by
/// that of the largest one, over its keys and dimensions. What the program takes for equal, and its tests.
float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence);

/// Which decode is proved: of a line of a snapshot that has one, its prefill taken in `chunk` tokens at a
/// time.
struct ProofQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null
  Index sequence = 0;
  Index chunk = 0;  ///< 0: all at once
  bool operator==(const ProofQuestion&) const = default;
};

/// The whole sequence run through a KV cache, beside the full pass: outputs [n, headDim] of all heads.
struct DecodeProof {
  Index prefill = 0;        ///< tokens taken in before the first step; 0: nothing can be decoded
  Index steps = 0;          ///< single tokens after it
  Index left = 0;           ///< steps that were not run, since they would take too long
  float maxDifference = 0;  ///< largest |Δ|, NaN where one of both is
  float tolerance = 0;      ///< that rounding explains

  // Where they are furthest apart:
  Index head = 0, token = 0;
  float cached = 0, full = 0;  ///< the one number, computed both ways

  bool holds() const { return maxDifference <= tolerance; }
};

/// Pure. Incomplete once `stop` is requested.
DecodeProof proveDecode(const ProofQuestion& question, Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app

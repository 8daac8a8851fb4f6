#pragma once

#include <memory>
#include <stop_token>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Returns how far outputs [n, modelDim] of a cached decode and of the full pass may differ if both are
/// correct. They round the same sums in a different order, and rounding a sum of t terms is off by about √t
/// epsilons (Higham & Mary 2019): a score by that times ‖q‖·‖k‖, a softmax by twice the error of its scores,
/// and an output by that of the largest one, over its keys and dimensions. The program and its tests treat
/// smaller differences as equal.
float decodeTolerance(const attention::AttentionConfig& config, const SequenceSnapshot& sequence);

/// The decode to prove: of one line of a snapshot that decodes, with its prefill processed in chunks of
/// `chunk` tokens.
struct ProofQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null
  Index sequence = 0;
  Index chunk = 0;  ///< 0 = all at once
  bool operator==(const ProofQuestion&) const = default;
};

/// The whole sequence run through a KV cache, compared with the full pass: outputs [n, headDim] of all heads.
struct DecodeProof {
  Index prefill = 0;        ///< tokens processed before the first step; 0 = nothing can be decoded
  Index steps = 0;          ///< single tokens after the prefill
  Index left = 0;           ///< steps skipped because they would take too long
  float maxDifference = 0;  ///< largest |Δ|; NaN if either output is
  float tolerance = 0;      ///< the difference that rounding can explain

  // Position and values of the largest difference:
  Index head = 0, token = 0;
  float cached = 0, full = 0;  ///< the same number, computed both ways

  bool holds() const { return maxDifference <= tolerance; }
};

/// Pure. The result is incomplete if `stop` is requested.
DecodeProof proveDecode(const ProofQuestion& question, Resources& resources, std::stop_token stop = {});

}  // namespace headscope::app

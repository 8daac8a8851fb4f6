#pragma once

#include "attention/core/attention.h"
#include "attention/core/score_terms.h"

namespace headscope::attention {

/// How one weight is computed, term by term, and what it contributes: q·k, the score terms in order, softmax,
/// weight · v, the head's output. The last step's score is the stored one, and without dropout
/// weight = exp(score − rowMax) / rowSum, up to rounding.
struct ScoreReceipt {
  Vector q, k, product;          ///< [headDim]; product = q ∘ k
  float dot = 0;                 ///< Σ product
  std::vector<ScoreStep> steps;  ///< every term that applies
  bool visible = false;
  float score = 0;            ///< the stored score; −inf when masked
  std::optional<float> sink;  ///< the head's extra score without a key, if any
  float rowMax = 0;           ///< largest score of the row including the sink's; −inf if no key is visible
  float exponential = 0;      ///< exp(score − rowMax); 0 when masked
  float rowSum = 0;           ///< Σ exp(score − rowMax) over the row, including the sink
  float weight = 0;           ///< the stored weight, after dropout

  Vector weighted;  ///< [headDim] weight · v of the key: its contribution to the head's output
  Vector rest;      ///< [headDim] Σ weight · v of all other keys
  Vector output;    ///< [headDim] the head's output for this query: weighted + rest
};

/// Explains one cell of a result. Throws std::invalid_argument if an index lies outside the result.
ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key);

/// Returns the sink's share of a row's softmax; 0 if the head has no sink or the row sees no key.
float sinkShare(const AttentionConfig& config, const AttentionResult& result, Index head, Index query);

/// Returns the entropy of one row of weights in nats: −Σ w·ln w.
float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights);

}  // namespace headscope::attention

#pragma once

#include "attention/core/attention.h"

namespace headscope::attention {

/// How one weight came about, term by term: the numbers the computation itself used.
/// score = softcap((q·k)·scale + alibi + t5) + additive; weight = exp(score − rowMax) / rowSum,
/// up to the rounding of the last.
struct ScoreReceipt {
  Vector q, k, product;  ///< [headDim]; product = q ∘ k
  float dot = 0;         ///< Σ product
  float scale = 1;
  float scaled = 0;    ///< dot · scale
  float alibi = 0;     ///< what ALiBi adds (≤ 0); 0 when off
  float t5 = 0;        ///< what T5's bucket adds; 0 when off
  float capped = 0;    ///< after the soft-cap; equals scaled + alibi + t5 when off
  float additive = 0;  ///< from an additive mask; 0 when none
  bool visible = false;
  float score = 0;        ///< the stored score; −inf when masked
  float rowMax = 0;       ///< largest score of the row; −inf for a row without visible keys
  float exponential = 0;  ///< exp(score − rowMax); 0 when masked
  float rowSum = 0;       ///< Σ exp(score − rowMax) over the row
  float weight = 0;       ///< the stored weight
};

/// Throws std::invalid_argument if an index lies outside the result.
ScoreReceipt explainScore(const AttentionConfig& config, const MaskInput& mask, const AttentionResult& result,
                          Index head, Index query, Index key);

/// Entropy of one row of weights in nats: −Σ w·ln w.
float rowEntropy(const Eigen::Ref<const Eigen::RowVectorXf>& weights);

}  // namespace headscope::attention

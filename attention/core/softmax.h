#pragma once

#include <optional>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// What one row of scores came to on the way to its weights.
struct SoftmaxRow {
  float max = 0;  ///< largest score, the sink's included; −inf where no key is visible
  float sum = 0;  ///< Σ exp(score − max), the sink's included; 0 where no key is visible
  float lse = 0;  ///< log-sum-exp of the scores and the sink, max + ln sum; −inf where no key is visible
};

/// weights[j] = exp(scores[j] − max) / Σ exp(scores − max), both [count]. A score of −inf gives the
/// weight 0, and a row of nothing else gives zeros. A `sink` is one more score, whose weight is dropped: the
/// others sum to less than 1. NaN or +inf among the scores makes every weight
/// NaN but those of −inf scores. Each element's bits depend on its score, the row's max and its sum
/// alone, not on where the row lies in memory.
SoftmaxRow softmaxRow(const float* scores, Index count, float* weights, std::optional<float> sink = {});

/// The share that a row's keys keep beside a sink: 1 / (1 + exp(sink − lse)), with `lse` of the keys alone.
float shareBeside(float sink, float lse);
/// ln(exp(lse) + exp(sink)); −inf where no key is visible.
float lseWith(float sink, float lse);

/// The entropy −Σ p·ln p of `count` probabilities, in nats; NaN where one is NaN.
float entropy(const float* probabilities, Index count);

/// exp(x) for x ≤ 0, within two units in the last place; 0 below −87.33, where the result would
/// be subnormal; NaN for NaN. Written without branches and tables, so that compilers vectorise it.
float expNonPositive(float x);

}  // namespace headscope::attention

#pragma once

#include <optional>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Intermediate results of one row's softmax.
struct SoftmaxRow {
  float max = 0;  ///< largest score including the sink; −inf if no key is visible
  float sum = 0;  ///< Σ exp(score − max) including the sink; 0 if no key is visible
  float lse = 0;  ///< log-sum-exp of the scores and the sink, max + ln sum; −inf if no key is visible
};

/// Computes weights[j] = exp(scores[j] − max) / Σ exp(scores − max), both [count]. A score of −inf gets the
/// weight 0; if all scores are −inf, all weights are 0. `sink` is an extra score whose weight is dropped, so
/// that the others sum to less than 1. If any score is NaN or +inf, every weight is NaN except those of −inf
/// scores. Each weight's bits depend only on its score and the row's max and sum, not on memory alignment.
SoftmaxRow softmaxRow(const float* scores, Index count, float* weights, std::optional<float> sink = {});

/// Returns the share of the softmax that a sink leaves to the keys: 1 / (1 + exp(sink − lse)), where `lse` is
/// the log-sum-exp of the keys only.
float shareLeftBySink(float sink, float lse);
/// Returns ln(exp(lse) + exp(sink)); −inf if no key is visible (lse is −inf).
float lseWithSink(float sink, float lse);

/// Returns the entropy −Σ p·ln p of `count` probabilities, in nats; NaN if any is NaN.
float entropy(const float* probabilities, Index count);

/// Returns exp(x) for x ≤ 0, within two units in the last place; 0 below −87.33, where the result would
/// be subnormal; NaN for NaN. Written without branches and tables so that compilers vectorise it.
float expNonPositive(float x);

}  // namespace headscope::attention

#pragma once

#include <optional>
#include <span>

#include "attention/core/tensor.h"
#include "attention/kernels/norm.h"

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
inline float entropy(const float* probabilities, Index count) {
  return kernels::entropyOf(probabilities, asSize(count));
}

/// Returns exp(x) for x ≤ 0, within two units in the last place; 0 below −87.33, where the result would
/// be subnormal; NaN for NaN. Written without branches and tables so that compilers vectorise it.
float expNonPositive(float x);

/// Layer norm (Ba, Kiros and Hinton 2016): y = (x − m)/√(mean((x − m)²) + epsilon) ⊙ weight + bias, where m
/// is the mean of x. All have the same size; y may be x. In double precision up to the weights.
inline void layerNorm(std::span<const float> x, std::span<const float> weight, std::span<const float> bias,
                      double epsilon, std::span<float> y) {
  kernels::normalize(x.data(), x.size(), weight.data(), bias.data(), epsilon, true, y.data());
}
/// RMS norm (Zhang and Sennrich 2019): the same with m = 0 and no bias.
inline void rmsNorm(std::span<const float> x, std::span<const float> weight, double epsilon,
                    std::span<float> y) {
  kernels::normalize(x.data(), x.size(), weight.data(), nullptr, epsilon, false, y.data());
}

/// Computes x·σ(x) in place, with σ(u) = 1/(1 + e⁻ᵘ) (Elfwing et al. 2017).
inline void silu(std::span<float> x) {
  kernels::timesSigmoid(x.data(), x.size(), 1, 0);
}
/// Computes x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) in place (Hendrycks and Gimpel 2016).
inline void geluByTanh(std::span<float> x) {
  // (1 + tanh u)/2 = σ(2u).
  constexpr float kLinear = 1.595769122f;  // 2·√(2/π)
  kernels::timesSigmoid(x.data(), x.size(), kLinear, kLinear * 0.044715f);
}

}  // namespace headscope::attention

#pragma once

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// How a cached number is stored: IEEE single, IEEE half, or the upper half of a single.
enum class CacheType { f32, f16, bf16 };

/// One query for each head of a group, over some keys of their shared kv head.
struct DecodePart {
  CacheType type = CacheType::f32;
  const void* keys = nullptr;    ///< [≥ keyEnd, headDim] of `type`
  const void* values = nullptr;  ///< the same
  std::size_t headDim = 0;
  std::size_t keyBegin = 0, keyEnd = 0;

  std::size_t heads = 0;
  const float* q = nullptr;           ///< [heads, headDim]
  const ScoreRules* rules = nullptr;  ///< [heads], each for one row

  float* scores = nullptr;  ///< for head h and key j at [h·scoresRow + j], −inf where masked; null for none
  std::size_t scoresRow = 0;
  float* max = nullptr;     ///< [heads] largest score; −inf if no key is visible
  float* sum = nullptr;     ///< [heads] Σ exp(score − max)
  float* output = nullptr;  ///< [heads, headDim] Σ exp(score − max)·v
};

/// Reads each key and value once, whatever the number of heads. A masked key's value counts as 0·v, so NaN or
/// infinity in the cache reaches the output.
void decode(const DecodePart& part);

/// Computes weights[j] = exp(scores[j] − lse) for `count` keys, which is 0 where the score is −inf; at most
/// 1, however lse was rounded. Both may be the same array.
void weigh(const float* scores, std::size_t count, float lse, float* weights);

}  // namespace headscope::attention::kernels

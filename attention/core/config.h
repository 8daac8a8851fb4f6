#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Attention dropout on the weights, as in training: each weight is zeroed with `probability`
/// and the rest are scaled by 1/(1−probability). Off at 0. Deterministic in `seed`, and each sequence of a
/// batch draws its own.
struct Dropout {
  float probability = 0;
  std::uint64_t seed = 0;
  std::uint64_t sequence = 0;  ///< which one of the batch
  bool operator==(const Dropout&) const = default;
};

/// T5's relative position biases: keys are sorted into `buckets` by their distance to the query, exactly
/// when near and by its logarithm up to `maxDistance`, and each head adds its own number for each bucket
/// (Raffel et al. 2020, section 2.1). The numbers are those that training found or, without a table, drawn
/// from a normal distribution: deterministic in `seed`, `strength` is the standard deviation.
struct BucketBias {
  Index buckets = 32, maxDistance = 128;
  bool bidirectional = false;  ///< half of the buckets are for keys after the query
  float strength = 1;
  std::uint64_t seed = 0;
  std::shared_ptr<const Matrix> table = nullptr;  ///< [buckets, heads], of a model's checkpoint; or null
  bool operator==(const BucketBias&) const = default;
};

/// The numbers of the score terms (score_terms.h) that people set, off until they do. Scenes, edits of a
/// model and a layer's configuration hold them; each is a member here and a term's row.
struct ScoreNumbers {
  float sharpness = 1;  ///< one more factor on q·k: above 1 the softmax picks fewer keys
  float softcap = 0;    ///< c·tanh(s/c), after position biases and before masking; 0: none
  bool operator==(const ScoreNumbers&) const = default;
};

/// What is set of a layer's scores and weights, in its configuration and in edits of a model.
struct ScoreSettings : ScoreNumbers {
  bool alibi = false;            ///< slope(h)·|i−j| subtracted from scaled scores (Press et al. 2022)
  std::optional<BucketBias> t5;  ///< added to scaled scores
  Dropout dropout;
  bool operator==(const ScoreSettings&) const = default;
};

/// Everything that shapes one attention layer, apart from its weights and its input.
/// Query head h reads kv head ⌊h / (heads / kvHeads)⌋ (Ainslie et al. 2023, GQA).
struct AttentionConfig : ScoreSettings {
  Index modelDim = 0;  ///< width of the queries' source and of the output
  Index heads = 1;     ///< query heads
  Index kvHeads = 1;   ///< divides heads
  Index headDim = 1;   ///< size of one head; heads · headDim may differ from modelDim
  Index valueDim = 0;  ///< of a head's values and output, at most headDim; 0: headDim
  /// What a cache has to hold of each token instead of keys and values, which are made of it (multi-head
  /// latent attention, DeepSeek-AI 2024): the latent, and a rotated part that all heads' keys share. 0: no
  /// such thing.
  Index latentDim = 0, rotaryDim = 0;

  Index cacheLength = 0;  ///< absolute position of the first query
  /// Rotary base, half-split pairing (Su et al. 2021); headDim must be even.
  std::optional<double> ropeTheta;
  /// Factor on q·k; 1/√headDim when empty (Vaswani et al. 2017, eq. 1).
  std::optional<float> scale;
  /// [heads] or empty: one more score of each head's softmax, which no key has and no value is behind; the
  /// weights of the keys sum to what it leaves (OpenAI 2025, gpt-oss).
  std::vector<float> sinks = {};

  /// `scale`, or what stands for it where it is empty; without the sharpness.
  float effectiveScale() const;
  Index valueSize() const { return valueDim > 0 ? valueDim : headDim; }
  Index groupSize() const { return heads / kvHeads; }
  Index kvHeadOf(Index head) const { return head / groupSize(); }
  std::optional<float> sinkOf(Index head) const {
    return sinks.empty() ? std::nullopt : std::optional(sinks[static_cast<std::size_t>(head)]);
  }
  bool operator==(const AttentionConfig&) const = default;
};

/// The first thing about `config` that cannot be, in the field's words; success if it can.
/// Checks positive sizes, kvHeads | heads, even headDim under RoPE, a finite scale, what each ScoreNumber's
/// row allows, dropout in [0, 1), a sink for each head or none, and that no product of sizes overflows.
Status validate(const AttentionConfig& config);

}  // namespace headscope::attention

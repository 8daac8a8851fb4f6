#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Attention dropout on the weights, as in training: each weight is zeroed with `probability`
/// and the rest are scaled by 1/(1−probability). 0 = off. Deterministic for a given `seed`; each sequence
/// of a batch is drawn separately.
struct Dropout {
  float probability = 0;
  std::uint64_t seed = 0;
  std::uint64_t sequence = 0;  ///< index in the batch
  bool operator==(const Dropout&) const = default;
};

/// T5's relative position biases (Raffel et al. 2020, section 2.1). Keys are sorted into `buckets` by their
/// distance to the query: exactly when near, logarithmically up to `maxDistance`. Each head adds one number
/// per bucket, taken from `table` or, without one, drawn from a normal distribution with standard deviation
/// `strength`, deterministic for a given `seed`.
struct BucketBias {
  Index buckets = 32, maxDistance = 128;
  bool bidirectional = false;  ///< half of the buckets are used for keys after the query
  float strength = 1;
  std::uint64_t seed = 0;
  std::shared_ptr<const Matrix> table = nullptr;  ///< [buckets, heads] from a checkpoint, or null
  bool operator==(const BucketBias&) const = default;
};

/// The user-settable numbers of the score terms (score_terms.h); by default they have no effect. Part of
/// scenes, model edits and layer configurations. Each is a member here and a row in the table of terms.
struct ScoreNumbers {
  float sharpness = 1;  ///< extra factor on q·k; above 1 the softmax concentrates on fewer keys
  float softcap = 0;    ///< c·tanh(s/c), after position biases and before masking; 0 = none
  bool operator==(const ScoreNumbers&) const = default;
};

/// The settings of a layer's scores and weights, in its configuration and in model edits.
struct ScoreSettings : ScoreNumbers {
  bool alibi = false;            ///< slope(h)·|i−j| subtracted from scaled scores (Press et al. 2022)
  std::optional<BucketBias> t5;  ///< added to scaled scores
  Dropout dropout;
  bool operator==(const ScoreSettings&) const = default;
};

/// The configuration of one attention layer: everything except its projection weights and its input.
/// Query head h reads kv head ⌊h / (heads / kvHeads)⌋ (Ainslie et al. 2023, GQA).
struct AttentionConfig : ScoreSettings {
  Index modelDim = 0;  ///< width of the queries' input and of the output
  Index heads = 1;     ///< query heads
  Index kvHeads = 1;   ///< divides heads
  Index headDim = 1;   ///< size of one head; heads · headDim may differ from modelDim
  Index valueDim = 0;  ///< width of a head's values and output, at most headDim; 0 = headDim
  /// Sizes cached per token by multi-head latent attention (DeepSeek-AI 2024) instead of keys and values,
  /// which are computed from them: the latent, and a rotated part shared by all heads' keys. 0 = not used.
  Index latentDim = 0, rotaryDim = 0;

  Index cacheLength = 0;  ///< absolute position of the first query
  /// Rotary base, half-split pairing (Su et al. 2021); headDim must be even.
  std::optional<double> ropeTheta;
  /// Factor on q·k; 1/√headDim when empty (Vaswani et al. 2017, eq. 1).
  std::optional<float> scale;
  /// [heads] or empty: an extra score in each head's softmax without a key or value, so that the weights of
  /// the keys sum to less than 1 (OpenAI 2025, gpt-oss).
  std::vector<float> sinks = {};
  /// [heads] or empty: ALiBi's slopes if they aren't the published ones (alibiSlopes()).
  std::vector<float> slopes = {};

  /// Returns `scale`, or 1/√headDim if it is empty. Doesn't include the sharpness.
  float effectiveScale() const;
  Index valueSize() const { return valueDim > 0 ? valueDim : headDim; }
  Index groupSize() const { return heads / kvHeads; }
  Index kvHeadOf(Index head) const { return head / groupSize(); }
  std::optional<float> sinkOf(Index head) const {
    return sinks.empty() ? std::nullopt : std::optional(sinks[static_cast<std::size_t>(head)]);
  }
  bool operator==(const AttentionConfig&) const = default;
};

/// Returns an Error naming the first invalid field of `config`, its value and what was expected.
/// Checks for positive sizes, kvHeads dividing heads, an even headDim under RoPE, a finite scale, score
/// numbers that their terms allow, valid T5 buckets, dropout in [0, 1), a sink for each head or none, and
/// that no product of sizes overflows.
Status validate(const AttentionConfig& config);
/// Throws std::invalid_argument with that Error's message.
void requireValid(const AttentionConfig& config);

}  // namespace headscope::attention

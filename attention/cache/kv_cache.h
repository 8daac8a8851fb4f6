#pragma once

#include <stop_token>
#include <vector>

#include "attention/cache/number_format.h"
#include "attention/core/attention.h"
#include "attention/core/config.h"
#include "attention/core/projections.h"

namespace headscope::attention {

/// The keys and values of all tokens so far, [kvHeads, capacity, headDim] each, allocated once: each step
/// writes its rows in place, without concatenation. In a 16-bit type, numbers are rounded to nearest, ties to
/// even, and every step reads the rounded numbers.
class KvCache {
 public:
  KvCache(const AttentionConfig& config, Index capacity, CacheType type = CacheType::f32);

  Index length() const { return length_; }
  Index capacity() const { return capacity_; }
  CacheType type() const { return type_; }
  /// The memory allocated: kvCacheBytes() of the capacity, rounded up to the allocation size.
  std::uint64_t bytes() const { return sizeof(float) * (keys_.capacity() + values_.capacity()); }
  /// Returns the key rows of one kv head, [length, headDim], as rounded to the cache's type.
  Matrix keys(Index kvHead) const { return read(keys_, kvHead); }
  /// The same for values; narrower ones are padded with zeros.
  Matrix values(Index kvHead) const { return read(values_, kvHead); }
  CacheView view() const;

  /// Processes the tokens x [n, modelDim] that follow the cached ones: projects them, appends their keys and
  /// values, and lets their queries attend to the whole cache. n is the prompt's length in a prefill, 1 in a
  /// decode step, and in between for chunks. `mask` is over [heads, n, length() + n], the maskPart() of the
  /// whole sequence's mask. The config's cacheLength is ignored; the cache uses its length. In the result, k
  /// and v are empty (read the cache), and scores and weights are [heads, n, length()]. The tokens stay
  /// appended if `stop` is requested; only the result is then incomplete. Throws std::invalid_argument if x
  /// doesn't fit in the remaining capacity.
  AttentionResult append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                         const MaskInput& mask = {}, std::stop_token stop = {});

  /// The same with queries q [heads, n, headDim] and keys and values [kvHeads, n, headDim] that are already
  /// projected and rotated. Values may be narrower; head outputs are as wide as the values. `config` must
  /// have the cache's sizes; its score settings are used. The result has q; output, k and v are empty.
  AttentionResult appendHeads(AttentionConfig config, Stack q, const Stack& k, const Stack& v,
                              const MaskInput& mask = {}, std::stop_token stop = {},
                              Keep keep = Keep::scores);

  /// Removes all tokens from `length` on. Throws std::invalid_argument if there are fewer.
  void truncate(Index length);
  /// Increases the capacity to at least `capacity` tokens, keeping the cached ones.
  void reserve(Index capacity);

 private:
  void requireRoom(Index tokens) const;
  /// Writes rows length … length+rows−1 of one kv head's keys or values.
  void write(kernels::Buffer& to, Index kvHead, const Eigen::Ref<const Matrix>& rows);
  Matrix read(const kernels::Buffer& from, Index kvHead) const;
  void attend(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
              const std::stop_token& stop, Keep keep) const;

  AttentionConfig config_;
  Index capacity_;
  CacheType type_;
  Index length_ = 0;
  kernels::Buffer keys_, values_;  ///< numbers of type_
};

/// Which cache entry is evicted when the cache is full.
enum class EvictionPolicy {
  none,     ///< nothing is evicted
  window,   ///< the oldest
  sinks,    ///< the oldest except the first kSinks (Xiao et al. 2023, StreamingLLM)
  heavy,    ///< the one with the least accumulated weight except the recent half (Zhang et al. 2023, H2O)
  random,   ///< a random one; the baseline
  tova,     ///< the one that the last query weighs least, over all heads (Oren et al. 2024)
  keynorm,  ///< the one whose key is longest (Devoto et al. 2024)
  keydiff,  ///< the one whose key points most as the mean of the cached keys' directions (Park et al. 2025)
};
inline constexpr std::array<std::string_view, 8> kEvictionNames{"none",   "window", "sinks",   "heavy",
                                                                "random", "tova",   "keynorm", "keydiff"};
inline constexpr Index kSinks = 4;

struct EvictionRules {
  EvictionPolicy policy = EvictionPolicy::none;
  Index budget = 0;  ///< entries per kv head, including the newest token's; at least 1
  std::uint64_t seed = 1;
  bool operator==(const EvictionRules&) const = default;
};

/// The effect of a policy while tokens are decoded one by one.
struct EvictionRun {
  Index kvHeads = 0, tokens = 0;
  /// [kvHeads, query, key]: whether the entry was still cached when the query read the cache.
  std::vector<std::uint8_t> kept;
  Matrix massLost;                  ///< [heads, query] weight of evicted entries in full attention
  Stack weights;                    ///< [heads, query, key] over the remaining entries
  std::vector<double> outputError;  ///< [query] ‖Δ‖/‖o‖ of all heads' outputs together
  std::vector<Index> entries;       ///< [query] entries of all kv heads when the query read the cache

  bool keeps(Index kvHead, Index query, Index key) const {
    return kept[static_cast<std::size_t>((kvHead * tokens + query) * tokens + key)] != 0;
  }
};

/// Decodes causal self-attention token by token under a policy: each query's softmax is over the remaining
/// entries. Uses scores, weights, k, v and headOutput of the full result; `learnedSinks` are
/// AttentionConfig::sinks. Incomplete once `stop` is requested. Throws std::invalid_argument if the numbers
/// of queries and keys differ or the budget is below 1.
EvictionRun runEviction(const AttentionResult& full, Index kvHeads, const EvictionRules& rules,
                        const std::stop_token& stop = {}, std::span<const float> learnedSinks = {});

/// Returns the bytes of K and V for `tokens` tokens of each of `sequences` in one layer:
/// 2 · kvHeads · headDim · bytesPerValue · tokens · sequences (Pope et al. 2022, section 3.3).
/// Saturates instead of overflowing.
std::uint64_t kvCacheBytes(Index kvHeads, Index headDim, Index tokens, Index bytesPerValue,
                           Index sequences = 1);

/// Returns the parameters of the layer: Q d·H·s, K and V d·G·s each, O H·s·d, and with `bias` the biases.
std::uint64_t parameterCount(const AttentionConfig& config, bool bias);

/// Returns keys or values [kvHeads, m, headDim] with consecutive kv heads merged into `groups` by their mean
/// (Ainslie et al. 2023, GQA, section 2.1). Projections and rotations are linear, so these are the keys of
/// the averaged projections. Throws std::invalid_argument if `groups` doesn't divide the kv heads.
Stack mergedByMean(const Stack& heads, Index groups);
/// The same for the rows of W_K or W_V, [heads · headDim, modelDim], and their bias.
Linear mergedByMean(const Linear& map, Index heads, Index groups);

// Multi-head latent attention (MLA; DeepSeek-AI 2024, DeepSeek-V2, section 2.1) derived from a layer's
// existing maps, without further training. A token caches a latent instead of its keys and values and, if
// keys are rotated by position, one rotary key shared by all heads.

/// The maps from a token's input x [modelDim] to what it caches: x·latent, and (W_K·x + b)·rotary, rotated by
/// its position.
struct LatentMaps {
  Matrix latent;  ///< [modelDim, latentDim], columns orthonormal
  Matrix rotary;  ///< [kvHeads · headDim, rotaryDim], columns orthonormal; no columns = no rotation

  Index numbersPerToken() const { return latent.cols() + rotary.cols(); }
};

/// Returns orthonormal input directions P, [modelDim, latentDim], that preserve keys and values best: the
/// leading right singular vectors of both maps' weights, stacked. The maps of x·P·Pᵀ are the closest of that
/// rank (Eckart & Young 1936). Returns fewer columns if keys and values together have fewer than modelDim
/// outputs and fewer than latentDim independent ones. A few directions of a large matrix are found by
/// leadingEigen(), with a loss within a thousandth of the minimum; the result is [modelDim, 0] once `stop` is
/// requested. Otherwise the decomposition of the smaller side is exact and can't be stopped. Throws
/// std::invalid_argument unless latentDim is 1 to modelDim.
Matrix latentDirections(const Linear& keys, const Linear& values, Index latentDim,
                        const std::stop_token& stop = {});

/// Returns the widest latent that can be found within a few seconds if keys and values together have
/// `outputs` dimensions.
Index mostLatent(Index modelDim, Index outputs);

/// Returns the directions of all heads' keys that keep their rotation, [kvHeads · headDim, rotaryDim]. A pair
/// of dimensions (t, t + dims/2), seen as a complex number, is rotated by the same angle in every head, so a
/// complex sum over heads rotates in the same way and can be shared. Of all frequencies' principal sums,
/// takes those whose scores would change most without the rotation, on average over all pairs of `positions`;
/// after Ji et al. 2025 (MHA2MLA) and Meng et al. 2025 (TransMLA). `positions` [n, dims] has the cosines and
/// sines of each position, as returned by ropeTable() and rotationTable(). Throws std::invalid_argument
/// unless rotaryDim is even and 0 to kvHeads · dims.
Matrix rotaryDirections(const Linear& queries, const Linear& keys, Index kvHeads, Index headDim,
                        const Matrix& positions, Index rotaryDim);

/// Returns both maps. The latent represents what the rotary key leaves; `stop` as for latentDirections().
LatentMaps latentMaps(const Projections& layer, Index kvHeads, Index headDim, const Matrix& positions,
                      Index latentDim, Index rotaryDim, const std::stop_token& stop = {});

/// The keys and values reconstructed from what tokens x [m, modelDim] cache, [m, kvHeads · headDim] each. A
/// key is the sum of both parts, before rotation; only the rotary part is to be rotated.
struct LatentRead {
  Matrix plainKeys, rotaryKeys, values;
};
LatentRead readLatent(const LatentMaps& maps, const Projections& layer, const Matrix& x);

/// Returns the nearest number in OCP's 8-bit format E4M3 (OCP 2023, 8-bit Floating Point Specification,
/// section 5), ties to even: 4 bits of exponent with bias 7, 3 of mantissa, no infinity. Values beyond ±448
/// become ±448, as in caches; NaN stays NaN.
float roundedToE4m3(float value);

/// Returns keys or values of one kv head [tokens, headDim] as read from a cache of that format, rounded as
/// its row in number_format.h defines.
Matrix quantised(const Eigen::Ref<const Matrix>& rows, NumberFormat format);
/// The same for all kv heads [kvHeads, tokens, headDim].
Stack quantised(const Stack& rows, NumberFormat format);

/// Returns the bytes of that many rows of one kv head's keys, including scales.
std::uint64_t quantisedBytes(Index rows, Index headDim, NumberFormat format);

}  // namespace headscope::attention

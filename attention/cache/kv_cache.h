#pragma once

#include <cstdint>

#include "attention/core/attention.h"
#include "attention/core/decode.h"

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
  Matrix keys(Index kvHead) const;
  /// The same for values; narrower ones are padded with zeros.
  Matrix values(Index kvHead) const;
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

}  // namespace headscope::attention

#pragma once

#include <cstdint>

#include "attention/core/attention.h"
#include "attention/core/decode.h"

namespace headscope::attention {

/// Keys and values of all tokens seen so far, [kvHeads, capacity, headDim] each, reserved once:
/// a step writes its rows in place and nothing is ever concatenated. What is kept as half precision is
/// rounded to the nearest, ties to even, and every step reads what was rounded.
class KvCache {
 public:
  KvCache(const AttentionConfig& config, Index capacity, CacheType type = CacheType::f32);

  Index length() const { return length_; }
  Index capacity() const { return capacity_; }
  CacheType type() const { return type_; }
  /// Memory that is reserved: kvCacheBytes() of the capacity, rounded up to what the system gives.
  std::uint64_t bytes() const { return sizeof(float) * (keys_.capacity() + values_.capacity()); }
  /// Key rows of one kv head, [length, headDim], as they were rounded to the cache's type.
  Matrix keys(Index kvHead) const;
  /// Of narrower values, with zeros behind.
  Matrix values(Index kvHead) const;
  CacheView view() const;

  /// Attends with the tokens x [n, modelDim] after those already cached: projects them, appends
  /// their keys and values, and lets their queries read everything cached. n is the prompt in a
  /// prefill, 1 in a decode step, anything between for chunks. They see what `mask` lets them, over
  /// [heads, n, length() + n]: maskPart() of the whole sequence's. The config's cacheLength is ignored, the
  /// cache knows its own. Returned k and v are empty (read the cache);
  /// scores and weights are [heads, n, length()]. The tokens stay appended when `stop` is requested:
  /// only the result is incomplete then.
  /// Throws std::invalid_argument if x does not fit in the remaining capacity.
  AttentionResult append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                         const MaskInput& mask = {}, std::stop_token stop = {});

  /// The same with queries q [heads, n, headDim], keys and values [kvHeads, n, headDim] that were projected
  /// and rotated elsewhere; values may be narrower, and the heads' outputs are as wide as they are. `config`
  /// has the cache's sizes; its numbers of the score terms count. The result has no output; q is in it, k and
  /// v are empty.
  AttentionResult appendHeads(AttentionConfig config, Stack q, const Stack& k, const Stack& v,
                              const MaskInput& mask = {}, std::stop_token stop = {},
                              Keep keep = Keep::scores);

  /// Forgets all tokens from `length` on. Throws std::invalid_argument if there are fewer.
  void truncate(Index length);
  /// Makes room for `capacity` tokens, keeping those there are.
  void reserve(Index capacity);

 private:
  void requireRoom(Index tokens) const;
  /// Rows length … length+rows−1 of one kv head's keys or values.
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

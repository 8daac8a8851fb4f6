#pragma once

#include <cstdint>

#include "attention/core/attention.h"

namespace headscope::attention {

/// Keys and values of all tokens seen so far, [kvHeads, capacity, headDim] each, reserved once:
/// a step writes its rows in place and nothing is ever concatenated.
class KvCache {
 public:
  KvCache(const AttentionConfig& config, Index capacity);

  Index length() const { return length_; }
  Index capacity() const { return capacity_; }
  /// Key rows of one kv head, [length, headDim].
  MatrixView keys(Index kvHead) const;
  MatrixView values(Index kvHead) const;

  /// Attends with the tokens x [n, modelDim] after those already cached: projects them, appends
  /// their keys and values, and lets their queries read everything cached. n is the prompt in a
  /// prefill, 1 in a decode step, anything between for chunks. Causal or not as `config` says; its
  /// cacheLength is ignored, the cache knows its own. Returned k and v are empty (read the cache);
  /// scores and weights are [heads, n, length()]. The tokens stay appended when `stop` is requested:
  /// only the result is incomplete then.
  /// Throws std::invalid_argument if x does not fit in the remaining capacity.
  AttentionResult append(const Projections& projections, const Eigen::Ref<const Matrix>& x,
                         const MaskInput& mask = {}, std::stop_token stop = {});

 private:
  AttentionConfig config_;
  Index capacity_;
  Index length_ = 0;
  Stack keys_, values_;
};

}  // namespace headscope::attention

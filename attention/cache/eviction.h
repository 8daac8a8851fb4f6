#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "attention/core/attention.h"

namespace headscope::attention {

/// Which cache entry is evicted when the cache is full.
enum class EvictionPolicy {
  none,    ///< nothing is evicted
  window,  ///< the oldest
  sinks,   ///< the oldest except the first kSinks (Xiao et al. 2023, StreamingLLM)
  heavy,   ///< the one with the least accumulated weight except the recent half (Zhang et al. 2023, H2O)
  random,  ///< a random one; the baseline
};
inline constexpr std::array<std::string_view, 5> kEvictionNames{"none", "window", "sinks", "heavy", "random"};
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
/// entries. Uses scores, weights, v and headOutput of the full result; `learnedSinks` are
/// AttentionConfig::sinks. Incomplete once `stop` is requested. Throws std::invalid_argument if the numbers
/// of queries and keys differ or the budget is below 1.
EvictionRun runEviction(const AttentionResult& full, Index kvHeads, const EvictionRules& rules,
                        const std::stop_token& stop = {}, std::span<const float> learnedSinks = {});

}  // namespace headscope::attention

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "attention/core/attention.h"

namespace headscope::attention {

/// Which entries of the cache are given up when it is full.
enum class EvictionPolicy {
  none,    ///< nothing is
  window,  ///< the oldest
  sinks,   ///< the oldest but the first kSinks (Xiao et al. 2023, StreamingLLM)
  heavy,   ///< the one with the least accumulated weight but the recent half (Zhang et al. 2023, H2O)
  random,  ///< any: the baseline
};
inline constexpr std::array<std::string_view, 5> kEvictionNames{"none", "window", "sinks", "heavy", "random"};
inline constexpr Index kSinks = 4;

struct EvictionRules {
  EvictionPolicy policy = EvictionPolicy::none;
  Index budget = 0;  ///< entries that a kv head keeps, the newest token's included; at least 1
  std::uint64_t seed = 1;
  bool operator==(const EvictionRules&) const = default;
};

/// What a policy did while the tokens were decoded one by one.
struct EvictionRun {
  Index kvHeads = 0, tokens = 0;
  /// [kvHeads, query, key]: whether the entry was still there when the query read the cache.
  std::vector<std::uint8_t> kept;
  Matrix massLost;                  ///< [heads, query] full weight on entries that were gone
  Stack weights;                    ///< [heads, query, key] over what was left
  std::vector<double> outputError;  ///< [query] ‖Δ‖/‖o‖ of all heads' outputs together
  std::vector<Index> entries;       ///< [query] entries of all kv heads when it read

  bool keeps(Index kvHead, Index query, Index key) const {
    return kept[static_cast<std::size_t>((kvHead * tokens + query) * tokens + key)] != 0;
  }
};

/// Decodes causal self-attention token by token under a policy: each query's softmax is over the entries that
/// are left, and its full scores are the result's. Takes scores, weights, v and headOutput of `full`.
/// `learnedSinks`: AttentionConfig::sinks. Incomplete once `stop` is requested. Throws std::invalid_argument
/// where there are not as many queries as
/// keys, or the budget is below 1.
EvictionRun runEviction(const AttentionResult& full, Index kvHeads, const EvictionRules& rules,
                        const std::stop_token& stop = {}, std::span<const float> learnedSinks = {});

}  // namespace headscope::attention

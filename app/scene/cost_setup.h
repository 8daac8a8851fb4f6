#pragma once

#include <string>

#include "attention/cache/number_format.h"
#include "attention/cache/weight_format.h"
#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;
using attention::NumberFormat;

/// What the Cost page's first plot shows over the tokens.
enum class MemoryPlot { cache, matrices };
/// What its second plot shows: the operations of a prefill, or of one decode step.
enum class WorkPlot { prefill, decode };

/// Which entries a full cache evicts.
enum class EvictionPolicy { none, window, sinks, heavy, random };

/// What the Cache page computes in addition to the layer. Part of undo and files; requires no new Snapshot.
struct CacheSetup {
  NumberFormat stored = NumberFormat::fp16;
  Index layers = 1;                                        ///< multiplies all bytes
  Index chunk = 0;                                         ///< tokens per prefill pass; 0 = all
  double speed = 2;                                        ///< steps per second of playback
  bool mhaStair = true, mqaStair = true, mlaStair = true;  ///< lines next to the layer's own bytes
  Index merged = 0;   ///< kv heads left after merging an opened layer's; 0 = half of them
  Index latent = 64;  ///< dimensions of the latent that replaces keys and values (MLA)
  Index rotary = 16;  ///< dimensions of the rotary key cached with it, if positions rotate keys
  EvictionPolicy first = EvictionPolicy::sinks, second = EvictionPolicy::heavy;
  Index budget = 6;  ///< entries that a policy keeps per kv head
  Index block = 16;  ///< tokens per page
  std::string schedule = "0: 40 + 24\n2: 100 + 40\n6: 40 + 60 shares 32 with 1\n20: 16 + 30";
  bool operator==(const CacheSetup&) const = default;
};

/// The inputs of the Cost page: a model's shape, its number formats, the request and the machine.
struct CostSetup {
  std::string model = "Llama-3.1-70B";       ///< a shape's name; empty = the synthetic layer
  std::string config;                        ///< a config.json to use instead
  NumberFormat format = NumberFormat::bf16;  ///< of the cache
  attention::WeightFormat weights = attention::WeightFormat::published;
  attention::MathFormat math = attention::MathFormat::weights;
  Index tokens = 131072, batch = 1, block = 16;
  std::string device = "H200";
  Index gpus = 2;
  double price = 0;  ///< of a GPU per hour; 0 = unknown
  MemoryPlot memory = MemoryPlot::cache;
  WorkPlot work = WorkPlot::prefill;
  CacheSetup cache;
  bool operator==(const CostSetup&) const = default;
};

/// The views of the Cache page.
enum class CacheView { growth, shapes, precision, eviction, paging };

inline constexpr Index kMaxCostTokens = Index{1} << 40;
inline constexpr Index kMaxCostBatch = 65536;

}  // namespace headscope::app

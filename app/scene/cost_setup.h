#pragma once

#include <string>

#include "attention/cache/number_format.h"
#include "attention/cache/weight_format.h"
#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;
using attention::NumberFormat;

/// What the cost page's first plot shows over the tokens.
enum class MemoryPlot { cache, matrices };
/// What its second one shows: operations of a prefill, or of one decode step.
enum class WorkPlot { prefill, decode };

/// Which entries of the cache are given up when it is full.
enum class EvictionPolicy { none, window, sinks, heavy, random };

/// What the pages of the cache compute beside the layer. It takes part in undo and files, and asks for no
/// Snapshot.
struct CacheSetup {
  NumberFormat stored = NumberFormat::fp16;
  Index layers = 1;  ///< multiplies every byte
  Index chunk = 0;   ///< tokens that the prefill takes in at once; 0 = all
  double speed = 2;  ///< steps a second while playing
  bool mhaStair = true, mqaStair = true, mlaStair = true;  ///< lines beside the layer's own bytes
  Index merged = 0;   ///< kv heads that an opened layer's are merged into; 0 = half of them
  Index latent = 64;  ///< dimensions of the latent that stands for keys and values (MLA)
  Index rotary = 16;  ///< dimensions of the rotary key beside it, where positions turn keys
  EvictionPolicy first = EvictionPolicy::sinks, second = EvictionPolicy::heavy;
  Index budget = 6;  ///< entries that a policy keeps of each kv head
  Index block = 16;  ///< tokens of a page
  std::string schedule = "0: 40 + 24\n2: 100 + 40\n6: 40 + 60 shares 32 with 1\n20: 16 + 30";
  bool operator==(const CacheSetup&) const = default;
};

/// What the cost page computes: a model's shape, how its numbers are kept, the request and the machine.
struct CostSetup {
  std::string model = "Llama-3.1-70B";       ///< a shape's name; empty: the layer made here
  std::string config;                        ///< a config.json in its place
  NumberFormat format = NumberFormat::bf16;  ///< of the cache
  attention::WeightFormat weights = attention::WeightFormat::published;
  attention::MathFormat math = attention::MathFormat::weights;
  Index tokens = 131072, batch = 1, block = 16;
  std::string device = "H200";
  Index gpus = 2;
  double price = 0;  ///< of a GPU and an hour; 0: not known
  MemoryPlot memory = MemoryPlot::cache;
  WorkPlot work = WorkPlot::prefill;
  CacheSetup cache;
  bool operator==(const CostSetup&) const = default;
};

/// The views of the cache page.
enum class CacheView { growth, shapes, precision, eviction, paging };

inline constexpr Index kMaxCostTokens = Index{1} << 40;
inline constexpr Index kMaxCostBatch = 65536;

}  // namespace headscope::app

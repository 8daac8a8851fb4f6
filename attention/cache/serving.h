#pragma once

#include <optional>
#include <string_view>

#include "attention/cache/machines.h"
#include "attention/cache/model_cost.h"

namespace headscope::attention {

// Whether a model fits on a machine, how long it takes there at best, and why.

/// Share of a GPU's memory that an engine takes; the rest is the driver's, the runtime's and fragments'.
inline constexpr double kUsableShare = 0.9;
/// Tokens that a prefill takes in at once.
inline constexpr Index kPrefillChunk = 8192;

/// Bytes of one GPU while it serves. Activations: of each of `rows` tokens two residual streams of modelDim,
/// the widest mixer's queries, keys and values and the widest feed-forward part's two inner rows, in 16 bits
/// (32 where fp32 is multiplied); beside them the logits of the batch in 32 bits.
struct GpuMemory {
  double usable = 0, weights = 0, cache = 0, activations = 0;
  Index rows = 0;  ///< tokens at once: those of all sequences, at most kPrefillChunk
  double numbersPerRow = 0;
  double logits = 0;  ///< bytes, part of activations
  double needed() const { return weights + cache + activations; }
  double free() const { return usable - needed(); }
  bool fits() const { return needed() <= usable; }
};
/// Throws std::invalid_argument where the shape doesn't split over the request's GPUs.
GpuMemory gpuMemory(const ModelShape& shape, const CostRequest& request, const Machine& machine);

/// What a decode step waits for.
enum class Bound { weights, cache, processor, link };
inline constexpr std::string_view kBoundNames[] = {"weights", "cache", "processor", "link"};

struct Serving {
  GpuMemory memory;
  std::optional<Index> longestContext;  ///< at this batch; 0: none fits; nothing: whatever it is
  std::optional<Index> largestBatch;    ///< at this context; the same
  MathFormat math = MathFormat::bf16;
  double peak = 0;            ///< operations a second of one GPU in that format
  double prefillSeconds = 0;  ///< of one sequence alone: the time to its first token
  double stepSeconds = 0;     ///< of a decode step of the batch; 0 of an encoder
  double weightSeconds = 0, cacheSeconds = 0, processorSeconds = 0;  ///< what of the step takes how long
  double linkSeconds = 0, prefillLinkSeconds = 0;  ///< all-reduces of a step and of a prefill
  Bound bound = Bound::weights;
  double tokensPerSecond = 0, tokensPerSecondForOne = 0;
};
/// Times are what the machine's peaks allow: memory and processor work side by side, the link after them. A
/// ring all-reduce of n bytes over p GPUs sends 2·(p − 1)/p·n from each, at half of the link's bandwidth;
/// there is one after each mixer and each feed-forward part.
Serving serve(const ModelShape& shape, const CostRequest& request, const Machine& machine);

/// What a million generated tokens cost where a GPU costs that much an hour.
double costPerMillion(const Serving& serving, Index gpus, double pricePerHour);

}  // namespace headscope::attention

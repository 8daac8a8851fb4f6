#pragma once

#include "attention/cache/model_cost.h"
#include "attention/cache/number_format.h"

namespace headscope::attention {

/// The share of a GPU's memory that an engine can use; the rest is for the driver, the runtime and
/// fragmentation.
inline constexpr double kUsableShare = 0.9;

/// An accelerator as specified by its manufacturer. Operations per second are for dense matrix products.
struct Machine {
  std::string name;
  double memoryGb = 0;   ///< GB, 10⁹ bytes
  double bandwidth = 0;  ///< bytes per second
  double flops = 0;      ///< per second, for 16-bit numbers accumulated in fp32
  std::string source;
  double fp8 = 0, int8 = 0, fp4 = 0;  ///< the same for these formats; 0 = not supported
  double link = 0;  ///< bytes per second to other GPUs, both directions together; 0 = unknown
  /// Of its memory; less where a system gives its GPU only a part of what both share.
  double usableShare = kUsableShare;
  double usableBytes() const { return usableShare * memoryGb * 1e9; }
  bool operator==(const Machine&) const = default;
};

/// Returns the machines in assets/catalogue/machines.json, by ascending memory.
const std::vector<Machine>& machines();
/// Finds a machine by name, ignoring case and anything but letters and digits. If no name matches, the first
/// that begins with `name` is used ("h100" is "H100 80 GB"). Null if there is none.
const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name);

/// Returns the operations per second in that format, or in the next wider one that the machine supports. fp32
/// counts as half of 16 bits, like TF32.
double peakFlops(const Machine& machine, MathFormat format);
/// Returns the operations per second that `count` machines reach at `intensity` operations per byte: the
/// lower of both roofs (Williams et al. 2009).
double roofline(const Machine& machine, Index count, double intensity, MathFormat format = MathFormat::bf16);

// Whether a model fits on a machine, how fast it can be there at best, and what limits it.

/// The most tokens a prefill processes at once.
inline constexpr Index kPrefillChunk = 8192;

/// The memory of one GPU while serving, in bytes. Activations are, for each of `rows` tokens, two residual
/// streams of modelDim, the widest mixer's queries, keys and values, and the widest feed-forward part's two
/// inner rows, in 16 bits (32 if the math is fp32), plus the logits of the batch in 32 bits.
struct GpuMemory {
  double usable = 0, weights = 0, cache = 0, activations = 0;
  Index rows = 0;  ///< tokens processed at once, of all sequences; at most kPrefillChunk
  double numbersPerRow = 0;
  double logits = 0;  ///< bytes, part of activations
  double needed() const { return weights + cache + activations; }
  double free() const { return usable - needed(); }
  bool fits() const { return needed() <= usable; }
};
/// Throws std::invalid_argument if the shape can't be split over the request's GPUs.
GpuMemory gpuMemory(const ModelShape& shape, const CostRequest& request, const Machine& machine);

/// What limits a decode step.
enum class Bound { weights, cache, processor, link };
inline constexpr std::string_view kBoundNames[] = {"weights", "cache", "processor", "link"};

struct Serving {
  GpuMemory memory;
  std::optional<Index> longestContext;  ///< at this batch; 0 = none fits, null = any fits
  std::optional<Index> largestBatch;    ///< at this context; 0 = none fits, null = any fits
  MathFormat math = MathFormat::bf16;
  double peak = 0;            ///< operations per second of one GPU in that format
  double prefillSeconds = 0;  ///< for a single sequence: the time to its first token
  double stepSeconds = 0;     ///< of the batch's decode step; 0 for encoders
  double weightSeconds = 0, cacheSeconds = 0, processorSeconds = 0;  ///< parts of a step
  double linkSeconds = 0, prefillLinkSeconds = 0;  ///< all-reduces of a step and of a prefill
  Bound bound = Bound::weights;
  double tokensPerSecond = 0, tokensPerSecondForOne = 0;
};
/// Estimates times from the machine's peaks: memory and processor work in parallel, then the link. A ring
/// all-reduce of n bytes over p GPUs sends 2·(p − 1)/p·n bytes from each GPU at half of the link's bandwidth;
/// there is one after each mixer and each feed-forward part. Throws std::invalid_argument like gpuMemory().
Serving serve(const ModelShape& shape, const CostRequest& request, const Machine& machine);

/// Returns the price of a million generated tokens, given the price of one GPU per hour.
double costPerMillion(const Serving& serving, Index gpus, double pricePerHour);

}  // namespace headscope::attention

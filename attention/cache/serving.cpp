#include "attention/cache/serving.h"

#include <cctype>

#include "attention/formats/json_tree.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c))) letters += lowerCase(c);
  return letters;
}

double sizeOf(Index value) {
  return static_cast<double>(value);
}

/// Returns the numbers per token that are needed at once in a layer, on one of `gpus` GPUs.
double rowNumbers(const ModelShape& shape, double gpus) {
  double mixer = 0, inner = 0;
  for (const LayerGroup& group : layerGroups(shape)) {
    const double attention = sizeOf((group.heads + 2 * group.kvHeads) * group.headDim);
    // The width of a recurrent layer's projections, estimated from its parameters.
    const double projected =
        sizeOf(static_cast<Index>(group.parameters)) / sizeOf(std::max<Index>(1, shape.modelDim));
    mixer = std::max(mixer, group.kind == CacheKind::recurrent ? projected : attention);
  }
  for (const FeedForward& each : feedForwards(shape))
    inner = std::max(inner, sizeOf(each.innerDim) * sizeOf(std::max<Index>(1, each.activeExperts)) +
                                sizeOf(each.sharedDim));
  return 2 * sizeOf(shape.modelDim) + (mixer + 2 * inner) / gpus;
}

/// Returns the largest value below `most` that fits; 0 if 1 doesn't fit, nothing if `most` does.
template <class Fits>
std::optional<Index> largest(Index most, Fits fits) {
  if (fits(most)) return std::nullopt;
  Index low = 0, high = most;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

/// Returns the seconds of all all-reduces for `tokens` tokens.
double allReduceSeconds(const ModelShape& shape, Index gpus, const Machine& machine, double tokens,
                        bool encoder) {
  if (gpus == 1 || machine.link <= 0) return 0;
  double count = 0;
  for (const LayerGroup& group : layerGroups(shape))
    if (encoder || group.kind != CacheKind::none) count += group.parameters > 0 ? sizeOf(group.layers) : 0;
  for (const FeedForward& each : feedForwards(shape))
    if (encoder || !each.encoder) count += each.innerDim > 0 ? sizeOf(each.layers) : 0;
  const double p = sizeOf(gpus), bytes = tokens * sizeOf(shape.modelDim) * 2;
  return count * 2 * (p - 1) / p * bytes / (machine.link / 2);
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> kAll = [] {
    std::vector<Machine> all;
    for (const auto& row : nlohmann::json::parse(catalogueText("machines"))) {
      const auto number = [&row](const char* key, double unit) { return row.value(key, 0.0) * unit; };
      constexpr double giga = 1e9, tera = 1e12;
      all.push_back({row["name"], number("memory_gb", 1), number("bandwidth_gb", giga),
                     number("tflops", tera), row["source"], number("tflops_fp8", tera),
                     number("tops_int8", tera), number("tflops_fp4", tera), number("link_gb", giga),
                     row.value("usable_share", kUsableShare)});
    }
    return all;
  }();
  return kAll;
}

const Machine* findMachine(const std::vector<Machine>& machines, std::string_view name) {
  const std::string wanted = plain(name);
  const Machine* part = nullptr;
  for (const Machine& machine : machines) {
    if (machine.name == name) return &machine;
    const std::string each = plain(machine.name);
    if (each == wanted) return &machine;
    if (!part && !wanted.empty() && each.starts_with(wanted)) part = &machine;
  }
  return part;
}

double peakFlops(const Machine& machine, MathFormat format) {
  switch (format) {
    case MathFormat::fp32:
      return machine.flops / 2;
    case MathFormat::fp4:
      if (machine.fp4 > 0) return machine.fp4;
      [[fallthrough]];
    case MathFormat::fp8:
      return machine.fp8 > 0 ? machine.fp8 : machine.flops;
    case MathFormat::int8:
      return machine.int8 > 0 ? machine.int8 : machine.flops;
    case MathFormat::weights:
    case MathFormat::fp16:
    case MathFormat::bf16:
      break;
  }
  return machine.flops;
}

double roofline(const Machine& machine, Index count, double intensity, MathFormat format) {
  return static_cast<double>(count) * std::min(peakFlops(machine, format), machine.bandwidth * intensity);
}

GpuMemory gpuMemory(const ModelShape& shape, const CostRequest& request, const Machine& machine) {
  const CacheCost cost = cacheCost(shape, request);
  const double gpus = sizeOf(request.tensorParallel);
  GpuMemory memory;
  memory.usable = machine.usableBytes();
  memory.weights = static_cast<double>(cost.weightsPerGpu);
  memory.cache = static_cast<double>(cost.reservedPerGpu);
  memory.rows = std::min<Index>(kPrefillChunk, request.tokens > kPrefillChunk / request.batch
                                                   ? kPrefillChunk
                                                   : request.tokens * request.batch);
  memory.numbersPerRow = rowNumbers(shape, gpus);
  memory.logits = sizeOf(request.batch) * sizeOf(shape.vocabulary) * 4 / gpus;
  const double bytes = mathFormatOf(shape, request) == MathFormat::fp32 ? 4 : 2;
  memory.activations = sizeOf(memory.rows) * memory.numbersPerRow * bytes + memory.logits;
  return memory;
}

Serving serve(const ModelShape& shape, const CostRequest& request, const Machine& machine) {
  Serving serving;
  serving.memory = gpuMemory(shape, request, machine);
  const auto fitsWith = [&](Index CostRequest::*member, Index value) {
    CostRequest other = request;
    other.*member = value;
    return gpuMemory(shape, other, machine).fits();
  };
  serving.longestContext =
      largest(Index{1} << 40, [&](Index n) { return fitsWith(&CostRequest::tokens, n); });
  serving.largestBatch = largest(Index{1} << 30, [&](Index n) { return fitsWith(&CostRequest::batch, n); });
  serving.math = mathFormatOf(shape, request);
  serving.peak = peakFlops(machine, serving.math);
  const double gpus = sizeOf(request.tensorParallel), flops = serving.peak * gpus,
               bandwidth = machine.bandwidth * gpus;
  const DecodeWork decode = decodeWork(shape, request);
  const double tokens = sizeOf(request.tokens);
  serving.prefillLinkSeconds = allReduceSeconds(shape, request.tensorParallel, machine, tokens, true);
  CostRequest whole = request;  // a batch of this size reaches as many experts as the prefill
  whole.batch = request.tokens;
  serving.prefillSeconds = std::max(prefillWork(shape, request.tokens).total() / flops,
                                    decodeWork(shape, whole).weightBytes / bandwidth) +
                           serving.prefillLinkSeconds;
  if (!shape.decodes) return serving;
  serving.weightSeconds = decode.weightBytes / bandwidth;
  serving.cacheSeconds = decode.cacheBytes / bandwidth;
  serving.processorSeconds = decode.flops / flops;
  serving.linkSeconds =
      allReduceSeconds(shape, request.tensorParallel, machine, sizeOf(request.batch), false);
  const double reading = serving.weightSeconds + serving.cacheSeconds;
  serving.stepSeconds = std::max(reading, serving.processorSeconds) + serving.linkSeconds;
  serving.bound = serving.linkSeconds > std::max(reading, serving.processorSeconds) ? Bound::link
                  : serving.processorSeconds > reading                              ? Bound::processor
                  : serving.cacheSeconds > serving.weightSeconds                    ? Bound::cache
                                                                                    : Bound::weights;
  serving.tokensPerSecondForOne = 1 / serving.stepSeconds;
  serving.tokensPerSecond = sizeOf(request.batch) * serving.tokensPerSecondForOne;
  return serving;
}

double costPerMillion(const Serving& serving, Index gpus, double pricePerHour) {
  return serving.tokensPerSecond > 0 ? pricePerHour * sizeOf(gpus) * 1e6 / (3600 * serving.tokensPerSecond)
                                     : 0;
}

}  // namespace headscope::attention

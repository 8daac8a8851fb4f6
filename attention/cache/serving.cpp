#include "attention/cache/serving.h"

#include <cctype>

#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

/// A row in the table's units: GB, GB/s, 10¹² operations/s in 16 bits, fp8, int8 and fp4, GB/s of the link.
struct Row {
  const char* name;
  double memory, bandwidth, bits16, fp8, int8, fp4, link;
  const char* source;
};

constexpr Row kRows[] = {
    {"RTX 3070", 8, 448, 40.6, 0, 162.6, 0, 64, "NVIDIA, Ampere GA102 whitepaper, appendix"},
    {"T4", 16, 320, 65, 0, 130, 0, 32, "NVIDIA, T4 datasheet"},
    {"RTX 4080", 16, 716.8, 97.5, 194.9, 389.9, 0, 64, "NVIDIA, Ada whitepaper, table 2"},
    {"A10", 24, 600, 125, 0, 250, 0, 64, "NVIDIA, A10 datasheet"},
    {"A30", 24, 933, 165, 0, 330, 0, 200, "NVIDIA, A30 datasheet"},
    {"L4", 24, 300, 121, 242.5, 242.5, 0, 64, "NVIDIA, L4 datasheet"},
    {"RTX 3090", 24, 936, 71, 0, 284, 0, 112.5, "NVIDIA, Ampere GA102 whitepaper, appendix"},
    {"RTX 4090", 24, 1008, 165.2, 330.3, 660.6, 0, 64, "NVIDIA, Ada whitepaper, table 2"},
    {"RTX 5090", 32, 1792, 209.5, 419, 838, 1676, 128, "NVIDIA, RTX Blackwell whitepaper"},
    {"V100 32 GB", 32, 900, 125, 0, 0, 0, 300, "NVIDIA, V100 datasheet, SXM2"},
    {"A100 40 GB", 40, 1555, 312, 0, 624, 0, 600, "NVIDIA, A100 datasheet, SXM"},
    {"A40", 48, 696, 149.7, 0, 299.3, 0, 112.5, "NVIDIA, A40 datasheet"},
    {"L40S", 48, 864, 362, 733, 733, 0, 64, "NVIDIA, L40S datasheet"},
    {"RTX 6000 Ada", 48, 960, 364.2, 728.5, 728.5, 0, 64, "NVIDIA, RTX 6000 Ada datasheet"},
    {"A100 80 GB", 80, 2039, 312, 0, 624, 0, 600, "NVIDIA, A100 datasheet, SXM"},
    {"H100 80 GB", 80, 3350, 989, 1979, 1979, 0, 900, "NVIDIA, H100 datasheet, SXM"},
    {"H100 PCIe", 80, 2000, 756, 1513, 1513, 0, 600, "NVIDIA, H100 datasheet, PCIe"},
    {"H100 NVL", 94, 3900, 835, 1671, 1671, 0, 600, "NVIDIA, H100 datasheet, NVL"},
    {"H20", 96, 4000, 148, 296, 296, 0, 900, "NVIDIA, H20 datasheet"},
    {"Gaudi 2", 96, 2450, 432, 865, 0, 0, 600, "Intel, Gaudi 2 whitepaper"},
    {"Gaudi 3", 128, 3700, 1835, 1835, 0, 0, 1200, "Intel, Gaudi 3 whitepaper"},
    {"MI250X", 128, 3277, 383, 0, 383, 0, 800, "AMD, Instinct MI250X datasheet"},
    {"H200", 141, 4800, 989, 1979, 1979, 0, 900, "NVIDIA, H200 datasheet"},
    {"B200", 180, 8000, 2250, 4500, 4500, 9000, 1800, "NVIDIA, Blackwell datasheet, HGX B200"},
    {"MI300X", 192, 5300, 1307.4, 2614.9, 2614.9, 0, 896, "AMD, Instinct MI300X datasheet"},
    {"MI325X", 256, 6000, 1307.4, 2614.9, 2614.9, 0, 896, "AMD, Instinct MI325X datasheet"},
    {"MI355X", 288, 8000, 2516.6, 5033.2, 5033.2, 10066.3, 1075, "AMD, Instinct MI355X datasheet"}};

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c))) letters += lowerCase(c);
  return letters;
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> kMachines = [] {
    constexpr double giga = 1e9, tera = 1e12;
    std::vector<Machine> all;
    for (const Row& row : kRows)
      all.push_back({row.name, row.memory, row.bandwidth * giga, row.bits16 * tera, row.source,
                     row.fp8 * tera, row.int8 * tera, row.fp4 * tera, row.link * giga});
    return all;
  }();
  return kMachines;
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

namespace {

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

GpuMemory gpuMemory(const ModelShape& shape, const CostRequest& request, const Machine& machine) {
  const CacheCost cost = cacheCost(shape, request);
  const double gpus = sizeOf(request.tensorParallel);
  GpuMemory memory;
  memory.usable = kUsableShare * machine.memoryGb * 1e9;
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

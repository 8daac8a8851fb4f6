#include "attention/cache/llama_cpp.h"

#include <fmt/core.h>

#include <cmath>

namespace headscope::attention {
namespace {

constexpr Index kPad = 256;  // cells

constexpr Index kMostCells = Index{1} << 60;  // more than any machine has

Index padded(Index cells) {
  return (std::min(cells, kMostCells) + kPad - 1) / kPad * kPad;
}

double sizeOf(auto count) {
  return static_cast<double>(count);
}

/// The cells that a layer has for each sequence.
Index cellsOf(const LayerGroup& group, Index tokens, const LlamaCppSettings& settings) {
  const Index context = padded(tokens);
  switch (group.kind) {
    case CacheKind::window:
    case CacheKind::chunk:
      return settings.fullWindows ? context
                                  : padded(std::min(context, std::min(group.span, kMostCells) +
                                                                 std::min(settings.ubatch, kMostCells)));
    case CacheKind::full:
    case CacheKind::latent:
      return context;
    case CacheKind::cross:
      return keptTokens(group, tokens);
    case CacheKind::recurrent:
    case CacheKind::shared:
    case CacheKind::none:
      break;
  }
  return 0;
}

/// Whether llama.cpp has a cache in this format whose rows have heads of `dim` numbers.
Status checkFormat(const char* what, NumberFormat format, Index dim) {
  const NumberFormatRow& row = rowOf(format);
  if (format == NumberFormat::fp8 || format == NumberFormat::int8 || format == NumberFormat::int4)
    return Error{
        fmt::format("{} in {}: llama.cpp has no such cache, expected fp32, fp16, bf16, q8_0, q5_1, "
                    "q5_0, q4_1, q4_0 or iq4_nl",
                    what, row.name)};
  if (row.group > 0 && dim % row.group != 0)
    return Error{fmt::format("{} in {}: a head of {} numbers isn't whole groups of {}", what, row.name, dim,
                             row.group)};
  return success();
}

/// The bytes of a step's largest intermediate result.
double computeBytes(const ModelShape& shape, const CostRequest& request, const LlamaCppSettings& settings,
                    Index cells) {
  const double rows = sizeOf(std::min(settings.ubatch, padded(request.tokens))), d = sizeOf(shape.modelDim),
               n = sizeOf(cells);
  double inner = 0;
  for (const FeedForward& each : feedForwards(shape))
    inner = std::max(inner, sizeOf(each.innerDim) * std::max(1.0, sizeOf(each.activeExperts)));
  const double logits = sizeOf(shape.vocabulary) + d,
               attention = (settings.flashAttention ? 1.5 * n : sizeOf(shape.heads) * n + n) + 4 * d;
  return 4 * rows * std::max({logits, attention, 2 * inner + 2 * d});
}

}  // namespace

Result<LlamaCppMemory> llamaCppMemory(const ModelShape& shape, const CostRequest& request,
                                      const LlamaCppSettings& settings) {
  if (rowOf(settings.values).group > 0 && !settings.flashAttention)
    return Error{"quantised values need flash attention in llama.cpp"};
  LlamaCppMemory memory;
  const std::uint64_t sequences = unsignedOf(request.batch);
  Index most = 0;
  for (const LayerGroup& group : layerGroups(shape)) {
    LlamaCppLayers layers{group, cellsOf(group, request.tokens, settings)};
    const Index valueDim = valueDimOf(group);
    const bool latent = group.kind == CacheKind::latent;
    if (layers.cells > 0) {
      if (const Status fits =
              checkFormat("keys", settings.keys, latent ? group.latentDim + group.ropeDim : group.headDim);
          !fits)
        return fits.error();
      if (const Status fits = checkFormat("values", settings.values, valueDim); !latent && !fits)
        return fits.error();
    }
    const Index keyRow = latent ? group.latentDim + group.ropeDim : group.kvHeads * group.headDim;
    const std::uint64_t cells =
        saturatingMultiply(saturatingMultiply(unsignedOf(group.layers), unsignedOf(layers.cells)), sequences);
    layers.keys = saturatingMultiply(cells, bytesOf(unsignedOf(keyRow + group.indexDim), settings.keys));
    if (!latent)
      layers.values =
          saturatingMultiply(cells, bytesOf(unsignedOf(group.kvHeads * valueDim), settings.values));
    layers.states = saturatingMultiply(saturatingMultiply(unsignedOf(group.layers), unsignedOf(group.state)),
                                       4 * sequences);
    addTo(memory.keys, layers.keys);
    addTo(memory.values, layers.values);
    addTo(memory.states, layers.states);
    most = std::max(most, layers.cells);
    memory.layers.push_back(std::move(layers));
  }
  memory.compute = computeBytes(shape, request, settings, most);
  return memory;
}

namespace {

/// A model's bytes by where llama.cpp keeps them, and what a decode step reads of them.
struct Parts {
  double layers = 0, experts = 0, embedding = 0, head = 0;
  double layersRead = 0, expertsRead = 0, cacheRead = 0;
};

Parts partsOf(const ModelShape& shape, const CostRequest& request, const LlamaCppMemory& memory) {
  const ShapeParameters all = parametersOf(shape);
  const double whole = sizeOf(weightBytes(shape, request)),
               scale = whole / estimatedWeightBytes(shape, request);
  Parts parts;
  const auto bytes = [&](const ParameterParts& of) { return scale * parameterBytes(shape, request, of); };
  parts.embedding = bytes({.embedding = sizeOf(all.embedding)});
  parts.head = shape.tied ? parts.embedding : bytes({.head = sizeOf(all.head)});
  parts.experts = bytes({.experts = sizeOf(all.experts)});
  parts.layers = whole - parts.embedding - (shape.tied ? 0 : parts.head);
  double reached = 0, routed = 0;
  for (const FeedForward& each : feedForwards(shape)) {
    if (each.experts == 0) continue;
    const double count = sizeOf(each.layers) * sizeOf(each.innerDim), e = sizeOf(each.experts);
    routed += count * e;
    reached += count * e * (1 - std::pow(1 - sizeOf(each.activeExperts) / e, sizeOf(request.batch)));
  }
  parts.expertsRead = routed > 0 ? parts.experts * reached / routed : 0;
  parts.layersRead = parts.layers - parts.experts + parts.expertsRead;
  for (const LlamaCppLayers& each : memory.layers) {
    const double kept = sizeOf(keptTokens(each.group, request.tokens));
    if (each.cells > 0) parts.cacheRead += sizeOf(each.keys + each.values) * kept / sizeOf(each.cells);
    parts.cacheRead += 2 * sizeOf(each.states);
  }
  return parts;
}

}  // namespace

Offloading offload(const ModelShape& shape, const CostRequest& request, const LlamaCppSettings& settings,
                   const LlamaCppMemory& memory, const Machine& machine) {
  require(settings.systemBandwidth > 0, "offloading needs the bandwidth of the system's memory");
  const Parts parts = partsOf(shape, request, memory);
  const auto spread = [&](Index gpuLayers) {
    Offloading split{.gpuLayers = gpuLayers, .layers = shape.layers};
    const double share = sizeOf(gpuLayers) / sizeOf(shape.layers);
    const bool head = gpuLayers == shape.layers;
    const double moved = settings.expertsInSystem ? parts.experts : 0,
                 movedRead = settings.expertsInSystem ? parts.expertsRead : 0,
                 cacheShare = settings.cacheInSystem ? 0 : share;
    const double layers = (parts.layers - moved) * share, cache = sizeOf(memory.cache()) * cacheShare;
    split.gpuBytes = layers + cache + (head ? parts.head : 0) + (gpuLayers > 0 ? memory.compute : 0);
    split.systemBytes = parts.layers - layers + sizeOf(memory.cache()) - cache + parts.embedding +
                        (head || shape.tied ? 0 : parts.head);
    split.gpuRead =
        (parts.layersRead - movedRead) * share + (head ? parts.head : 0) + parts.cacheRead * cacheShare;
    split.systemRead = parts.layersRead + parts.head + parts.cacheRead - split.gpuRead;
    split.seconds = split.gpuRead / machine.bandwidth + split.systemRead / settings.systemBandwidth;
    split.fits = split.gpuBytes <= machine.usableBytes();
    return split;
  };
  if (settings.gpuLayers) return spread(std::min(*settings.gpuLayers, shape.layers));
  Offloading best = spread(0);
  for (Index layers = 1; layers <= shape.layers; ++layers)
    if (const Offloading next = spread(layers); next.fits) best = next;
  return best;
}

}  // namespace headscope::attention

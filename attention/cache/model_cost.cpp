#include "attention/cache/model_cost.h"

#include <fmt/core.h>

#include <cmath>

namespace headscope::attention {

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

Index roundedUp(Index tokens, Index block) {
  const Index past = tokens % block, fill = past == 0 ? 0 : block - past;
  return tokens > std::numeric_limits<Index>::max() - fill ? std::numeric_limits<Index>::max()
                                                           : tokens + fill;
}

/// Returns the part of a group that one of `gpus` GPUs stores.
LayerGroup partOf(LayerGroup group, Index gpus) {
  if (group.kvHeads > 0) group.kvHeads = std::max<Index>(1, group.kvHeads / gpus);
  group.state = (group.state + gpus - 1) / gpus;
  return group;
}

}  // namespace

std::uint64_t unsignedOf(Index size) {
  require(size >= 0, "a size is negative: " + std::to_string(size));
  return static_cast<std::uint64_t>(size);
}

void addTo(std::uint64_t& sum, std::uint64_t more) {
  sum = saturatingSum({sum, more});
}

Index copiesOf(const LayerGroup& group, Index gpus) {
  if (group.kind == CacheKind::latent) return gpus;
  return group.kvHeads == 0 ? 1 : std::max<Index>(1, gpus / group.kvHeads);
}

Index valueDimOf(const LayerGroup& group) {
  return group.valueDim > 0 ? group.valueDim : group.headDim;
}

std::uint64_t groupBytes(const LayerGroup& group, Index tokens, Index batch, NumberFormat format) {
  const std::uint64_t numbers =
      saturatingMultiply(cachedNumbers(group), saturatingProduct({group.layers, tokens}));
  return saturatingSum(
      {bytesOf(saturatingMultiply(numbers, unsignedOf(batch)), format), stateBytes(group, batch, format)});
}

double parameterBytes(const ModelShape& shape, const CostRequest& request, const ParameterParts& parts) {
  const WeightStorage stored = storageOf(shape, request);
  using Covers = WeightFormatRow::Covers;
  const double bits = stored.bits;
  const bool all = stored.covers == Covers::all, tables = all || stored.covers == Covers::matrices;
  const bool some = stored.covers == Covers::experts && parametersOf(shape).experts > 0;
  return (parts.layers * (some ? 16 : bits) + parts.experts * bits + parts.embedding * (tables ? bits : 16) +
          parts.head * (tables ? bits : stored.headBits) + parts.others * (all ? bits : 16)) /
         8;
}

/// The quantised matrices of all layers: of queries, keys, values and output, or of a latent with its queries
/// and output; of MLPs and experts.
double matricesOf(const ModelShape& shape) {
  double count = 0;
  for (const LayerGroup& group : layerGroups(shape)) {
    const Index each = group.kind == CacheKind::latent ? 5 : group.heads > 0 ? 4 : 0;
    count += static_cast<double>(group.layers) * static_cast<double>(each);
  }
  for (const FeedForward& each : feedForwards(shape)) {
    const Index mlps = each.experts > 0 ? each.experts + (each.sharedDim > 0 ? 1 : 0) : 1;
    count += static_cast<double>(each.layers) * (each.gated ? 3 : 2) * static_cast<double>(mlps);
  }
  return count;
}

double estimatedWeightBytes(const ModelShape& shape, const CostRequest& request) {
  const ShapeParameters all = parametersOf(shape);
  const auto experts = static_cast<double>(all.experts);
  const double scales = static_cast<double>(storageOf(shape, request).matrixBytes) * matricesOf(shape);
  return scales +
         parameterBytes(shape, request,
                        {.layers = static_cast<double>(all.attention) + static_cast<double>(all.feedForward) -
                                   experts - static_cast<double>(shape.repeatedParameters),
                         .experts = experts,
                         .embedding = static_cast<double>(all.embedding),
                         .head = shape.tied ? 0 : static_cast<double>(all.head),
                         .others = static_cast<double>(shape.otherParameters)});
}

std::uint64_t saturatingMultiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kMax : product;
}

std::uint64_t bytesOf(std::uint64_t values, NumberFormat format) {
  const NumberFormatRow& row = rowOf(format);
  const auto bits = unsignedOf(row.bits), group = unsignedOf(row.group > 0 ? row.group : 8);
  if (values == kMax) return kMax;
  const std::uint64_t groups = values / group, rest = values % group;
  if (row.group > 0)
    return saturatingMultiply(groups + (rest > 0), group * bits / 8 + unsignedOf(row.scaleBytes));
  return saturatingSum({saturatingMultiply(groups, bits), (rest * bits + 7) / 8});
}

WeightStorage storageOf(const ModelShape& shape, const CostRequest& request) {
  const bool published =
      request.weights == WeightFormat::published || rowOf(request.weights).name == shape.weights.name;
  return published ? shape.weights : storageOf(request.weights);
}

MathFormat mathFormatOf(const ModelShape& shape, const CostRequest& request) {
  return request.math == MathFormat::weights ? storageOf(shape, request).computes : request.math;
}

bool isCounted(const ModelShape& shape, const CostRequest& request) {
  return shape.countedBytes > 0 && storageOf(shape, request) == shape.weights;
}

std::uint64_t weightBytes(const ModelShape& shape, const CostRequest& request) {
  if (isCounted(shape, request)) return shape.countedBytes;
  if (parametersOf(shape).total == kMax) return kMax;
  double bytes = estimatedWeightBytes(shape, request);
  // The sizes cover most of the files' parameters, but not all.
  if (shape.countedParameters > 0) {
    ModelShape named = shape;
    named.countedParameters = 0;
    bytes *= static_cast<double>(shape.countedParameters) / static_cast<double>(parametersOf(named).total);
  }
  return bytes >= 0x1p63 ? kMax : static_cast<std::uint64_t>(std::ceil(bytes));
}

std::uint64_t cachedNumbers(const LayerGroup& group) {
  switch (group.kind) {
    case CacheKind::full:
    case CacheKind::window:
    case CacheKind::chunk:
    case CacheKind::cross:
      return saturatingSum({saturatingProduct({group.kvHeads, group.headDim}),
                            saturatingProduct({group.kvHeads, valueDimOf(group)}),
                            saturatingProduct({group.indexDim})});
    case CacheKind::latent:
      return saturatingProduct({group.latentDim + group.ropeDim + group.indexDim});
    case CacheKind::recurrent:
    case CacheKind::shared:
    case CacheKind::none:
      break;
  }
  return 0;
}

Index keptTokens(const LayerGroup& group, Index tokens) {
  if (cachedNumbers(group) == 0) return 0;
  if (group.kind == CacheKind::window || group.kind == CacheKind::chunk) return std::min(tokens, group.span);
  return group.kind == CacheKind::cross && group.span > 0 ? group.span : tokens;
}

Index reservedTokens(const LayerGroup& group, Index tokens, Index block) {
  require(block >= 1, fmt::format("a block has {} tokens, expected at least 1", block));
  if (cachedNumbers(group) == 0) return 0;
  const Index all = roundedUp(tokens, block);
  if (group.kind == CacheKind::window) return std::min(all, roundedUp(group.span, block) + block);
  if (group.kind == CacheKind::chunk) return std::min(all, roundedUp(group.span, block));
  return group.kind == CacheKind::cross && group.span > 0 ? roundedUp(group.span, block) : all;
}

std::uint64_t stateBytes(const LayerGroup& group, Index batch, NumberFormat format) {
  const Index each = group.state32 || format == NumberFormat::fp32 ? 4 : 2;
  return saturatingProduct({group.layers, group.state, each, batch});
}

std::uint64_t cachedTokens(const ModelShape& shape, Index tokens) {
  std::uint64_t all = 0;
  for (const LayerGroup& group : layerGroups(shape))
    addTo(all, saturatingProduct({group.layers, keptTokens(group, tokens)}));
  return all;
}

std::uint64_t cacheBytes(const ModelShape& shape, Index tokens, Index batch, NumberFormat format) {
  require(tokens >= 0, "a size is negative: " + std::to_string(tokens));
  std::uint64_t all = 0;
  for (const LayerGroup& group : layerGroups(shape))
    addTo(all, groupBytes(group, keptTokens(group, tokens), batch, format));
  return all;
}

std::vector<LayerGroupCost> layerCosts(const ModelShape& shape, const CostRequest& request) {
  const Index gpus = request.tensorParallel;
  const Status fits = splits(shape, gpus);
  require(fits.ok(), fits.ok() ? "" : fits.error().message);
  std::vector<LayerGroupCost> costs;
  for (const LayerGroup& group : layerGroups(shape)) {
    const Index kept = keptTokens(group, request.tokens),
                pages = reservedTokens(group, request.tokens, request.block);
    const auto bytesFor = [&](const LayerGroup& part, Index tokens) {
      return groupBytes(part, tokens, request.batch, request.format);
    };
    const LayerGroup part = partOf(group, gpus);
    costs.push_back({group, kept, bytesFor(group, kept), bytesFor(part, kept), bytesFor(group, pages),
                     bytesFor(part, pages), copiesOf(group, gpus)});
  }
  return costs;
}

Status splits(const ModelShape& shape, Index gpus) {
  if (gpus < 1) return Error{fmt::format("{} GPUs, expected at least 1", gpus)};
  for (const LayerGroup& group : layerGroups(shape)) {
    if (group.heads % gpus != 0)
      return Error{fmt::format("{} heads can't be split evenly over {} GPUs", group.heads, gpus)};
    const Index kvHeads = group.kind == CacheKind::latent ? 0 : group.kvHeads;
    if (kvHeads > 0 && kvHeads % gpus != 0 && gpus % kvHeads != 0)
      return Error{fmt::format("{} kv heads can't be split evenly over {} GPUs", kvHeads, gpus)};
  }
  return success();
}

Index nearestSplit(const ModelShape& shape, Index wanted) {
  if (splits(shape, wanted).ok()) return wanted;
  Index best = 1;
  for (Index gpus = 2; gpus < wanted; gpus *= 2)
    if (splits(shape, gpus).ok()) best = gpus;
  return best;
}

CacheCost cacheCost(const ModelShape& shape, const CostRequest& request) {
  const Index gpus = request.tensorParallel;
  CacheCost cost;
  for (const LayerGroupCost& each : layerCosts(shape, request)) {
    addTo(cost.total, each.bytes);
    addTo(cost.perGpu, each.perGpu);
    addTo(cost.reserved, each.reserved);
    addTo(cost.reservedPerGpu, each.reservedPerGpu);
    cost.copies = std::max(cost.copies, each.copies);
    if (const LayerGroup& group = each.group; group.kind != CacheKind::cross)
      addTo(cost.perToken,
            bytesOf(saturatingMultiply(cachedNumbers(group), unsignedOf(group.layers)), request.format));
  }
  const std::uint64_t share = cost.total / unsignedOf(gpus);
  cost.copiedPerGpu = cost.copies > 1 && cost.perGpu > share ? cost.perGpu - share : 0;
  cost.kvHeadsPerGpu = std::max<Index>(1, shape.kvHeads / gpus);
  cost.weights = weightBytes(shape, request);
  cost.weightsPerGpu = cost.weights == kMax ? kMax : (cost.weights + unsignedOf(gpus) - 1) / unsignedOf(gpus);
  return cost;
}

ModelShape withKvHeads(ModelShape shape, Index kvHeads) {
  shape = withoutSpans(std::move(shape));
  for (LayerGroup& group : shape.groups) {
    if (group.kind == CacheKind::latent) group.kind = CacheKind::full;
    if (group.kvHeads == 0) continue;
    group.kvHeads = kvHeads;
    group.latentDim = group.ropeDim = group.indexDim = group.valueDim = 0;
  }
  shape.kvHeads = kvHeads;
  shape.latentDim = shape.ropeDim = shape.queryLatent = shape.valueDim = 0;
  return shape;
}

ModelShape withoutSpans(ModelShape shape) {
  for (LayerGroup& group : shape.groups)
    if (group.kind == CacheKind::window || group.kind == CacheKind::chunk) {
      group.kind = CacheKind::full;
      group.span = 0;
    }
  shape.window = shape.globalLayers = 0;
  return shape;
}

}  // namespace headscope::attention

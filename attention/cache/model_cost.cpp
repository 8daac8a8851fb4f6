#include "attention/cache/model_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/saturating.h"

namespace headscope::attention {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t unsignedOf(Index size) {
  require(size >= 0, "a size is negative: " + std::to_string(size));
  return static_cast<std::uint64_t>(size);
}

/// GPUs that each kv head lies on. A latent is shared by all heads, so that every GPU keeps all of it.
Index copiesOf(const ModelShape& shape, Index gpus) {
  return shape.isLatent() ? gpus : std::max<Index>(1, gpus / shape.kvHeads);
}

}  // namespace

std::uint64_t saturatingTimes(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

std::uint64_t bytesOf(std::uint64_t values, NumberFormat format) {
  const int bits = bitsOf(format);
  if (values == kMost) return kMost;
  if (bits >= 8) return saturatingTimes(values, static_cast<std::uint64_t>(bits / 8));
  const std::uint64_t inOneByte = 8 / static_cast<std::uint64_t>(bits);
  return values / inOneByte + (values % inOneByte > 0);
}

std::uint64_t cachedNumbers(const ModelShape& shape) {
  if (!shape.decodes) return 0;
  if (shape.isLatent()) return saturatingProduct({shape.latentDim + shape.ropeDim});
  return saturatingProduct({2, shape.kvHeads, shape.headDim});
}

std::uint64_t cachedTokens(const ModelShape& shape, Index tokens) {
  if (shape.window == 0) return saturatingProduct({shape.layers, tokens});
  return saturatingSum(
      {saturatingProduct({shape.globalLayers, tokens}),
       saturatingProduct({shape.layers - shape.globalLayers, std::min(tokens, shape.window)})});
}

std::uint64_t cacheBytes(const ModelShape& shape, Index tokens, Index batch, NumberFormat format) {
  const std::uint64_t numbers = saturatingTimes(cachedNumbers(shape), cachedTokens(shape, tokens));
  return bytesOf(saturatingTimes(numbers, unsignedOf(batch)), format);
}

std::uint64_t reservedCacheBytes(const ModelShape& shape, const CostRequest& request) {
  require(request.block >= 1, fmt::format("a block has {} tokens, expected at least 1", request.block));
  const Index tokens = request.tokens, past = tokens % request.block;
  const Index fill = past == 0 ? 0 : request.block - past;
  if (tokens > std::numeric_limits<Index>::max() - fill) return kMost;
  ModelShape paged = shape;
  paged.window = 0;
  return cacheBytes(paged, tokens + fill, request.batch, request.format);
}

Status splits(const ModelShape& shape, Index gpus) {
  if (gpus < 1) return Error{fmt::format("{} GPUs, expected at least 1", gpus)};
  if (shape.heads % gpus != 0)
    return Error{fmt::format("{} heads can't be split evenly over {} GPUs", shape.heads, gpus)};
  if (!shape.isLatent() && shape.kvHeads % gpus != 0 && gpus % shape.kvHeads != 0)
    return Error{fmt::format("{} kv heads can't be split evenly over {} GPUs", shape.kvHeads, gpus)};
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
  const Status fits = splits(shape, request.tensorParallel);
  require(fits.ok(), fits.ok() ? "" : fits.error().message);
  const Index gpus = request.tensorParallel;
  CacheCost cost;
  cost.perToken = cacheBytes(shape, 1, 1, request.format);
  cost.total = cacheBytes(shape, request.tokens, request.batch, request.format);
  cost.reserved = shape.decodes ? reservedCacheBytes(shape, request) : 0;
  ModelShape part = shape;
  part.kvHeads = std::max<Index>(1, shape.kvHeads / gpus);
  cost.kvHeadsPerGpu = part.kvHeads;
  cost.copies = copiesOf(shape, gpus);
  cost.perGpu = cacheBytes(part, request.tokens, request.batch, request.format);
  cost.reservedPerGpu = shape.decodes ? reservedCacheBytes(part, request) : 0;
  cost.weights = bytesOf(parametersOf(shape).total, request.format);
  cost.weightsPerGpu =
      cost.weights == kMost ? kMost : (cost.weights + unsignedOf(gpus) - 1) / unsignedOf(gpus);
  return cost;
}

ModelShape withKvHeads(ModelShape shape, Index kvHeads) {
  shape.kvHeads = kvHeads;
  shape.latentDim = shape.ropeDim = shape.queryLatent = shape.valueDim = shape.window = shape.globalLayers =
      0;
  return shape;
}

std::uint64_t matrixBytes(Index tokens, Index layers, Index heads, bool training) {
  return saturatingProduct({tokens, tokens, 4, layers, heads, training ? 5 : 1});
}

namespace {

/// Pairs of query and key in one layer that keeps `window` tokens (0: all).
double pairsOf(double n, Index window, PairCount count) {
  const auto w = static_cast<double>(window);
  const bool slides = window > 0 && n > w;
  if (count == PairCount::all) return slides ? n * w : n * n;
  return slides ? w * (w + 1) / 2 + (n - w) * w : n * (n + 1) / 2;
}

/// Pairs in all layers.
double allPairs(const ModelShape& shape, double n, PairCount count) {
  if (shape.window == 0) return static_cast<double>(shape.layers) * pairsOf(n, 0, count);
  return static_cast<double>(shape.globalLayers) * pairsOf(n, 0, count) +
         static_cast<double>(shape.layers - shape.globalLayers) * pairsOf(n, shape.window, count);
}

/// Sizes of a query and of a value that a pair multiplies, over all heads.
double scoreSize(const ModelShape& shape) {
  return static_cast<double>(shape.heads * (shape.headDim + (shape.isLatent() ? shape.ropeDim : 0)));
}
double valueSize(const ModelShape& shape) {
  return static_cast<double>(shape.heads * (shape.valueDim > 0 ? shape.valueDim : shape.headDim));
}

/// Sizes that a query of one decode step multiplies for each cached token, over all heads.
double cachedSize(const ModelShape& shape) {
  if (!shape.isLatent()) return scoreSize(shape) + valueSize(shape);
  return static_cast<double>(shape.heads * (2 * shape.latentDim + shape.ropeDim));
}

double feedForwardFlops(const ModelShape& shape) {
  return 2 * static_cast<double>(parametersOf(shape).activeFeedForward);
}
double projectionFlops(const ModelShape& shape) {
  return 2 * static_cast<double>(parametersOf(shape).attention);
}

}  // namespace

PrefillWork prefillWork(const ModelShape& shape, Index tokens, PairCount count) {
  const auto n = static_cast<double>(tokens);
  const double pairs = allPairs(shape, n, shape.decodes ? count : PairCount::all);
  PrefillWork work;
  work.projections = n * projectionFlops(shape);
  work.feedForward = n * feedForwardFlops(shape);
  work.scores = 2 * scoreSize(shape) * pairs;
  work.weightedSum = 2 * valueSize(shape) * pairs;
  work.softmax = 5 * static_cast<double>(shape.heads) * pairs;
  work.head = 2 * static_cast<double>(parametersOf(shape).head);
  return work;
}

std::optional<Index> attentionOvertakes(const ModelShape& shape, bool feedForward, PairCount count) {
  if (!shape.decodes) count = PairCount::all;
  const double each = projectionFlops(shape) + (feedForward ? feedForwardFlops(shape) : 0);
  // Pairs for each token only grow, so that the first place can be halved towards.
  const auto overtakes = [&](Index n) {
    const auto tokens = static_cast<double>(n);
    return 2 * (scoreSize(shape) + valueSize(shape)) * (allPairs(shape, tokens, count) / tokens) >= each;
  };
  Index low = 1, high = Index{1} << 50;
  if (!overtakes(high)) return std::nullopt;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    overtakes(middle) ? high = middle : low = middle + 1;
  }
  return low;
}

DecodeWork decodeWork(const ModelShape& shape, const CostRequest& request) {
  const ShapeParameters all = parametersOf(shape);
  const auto batch = static_cast<double>(request.batch);
  const auto bytes = [&](double count) { return count * bitsOf(request.format) / 8; };
  double reached = static_cast<double>(all.feedForward);
  if (shape.experts > 0) {
    const auto experts = static_cast<double>(shape.experts),
               active = static_cast<double>(shape.activeExperts);
    const double one = (static_cast<double>(all.feedForward) - static_cast<double>(all.activeFeedForward)) /
                       std::max(experts - active, 1.0);
    const double met = experts * (1 - std::pow(1 - active / experts, batch));
    reached = static_cast<double>(all.activeFeedForward) + one * (met - active);
  }
  DecodeWork work;
  work.weightBytes = bytes(static_cast<double>(all.attention) + reached + static_cast<double>(all.head));
  const auto cached = static_cast<double>(cachedTokens(shape, request.tokens));
  const auto copies = static_cast<double>(copiesOf(shape, request.tensorParallel));
  work.cacheBytes = bytes(static_cast<double>(cachedNumbers(shape)) * cached * batch * copies);
  work.flops = batch * (projectionFlops(shape) + feedForwardFlops(shape) + 2 * static_cast<double>(all.head) +
                        2 * cachedSize(shape) * cached);
  return work;
}

}  // namespace headscope::attention

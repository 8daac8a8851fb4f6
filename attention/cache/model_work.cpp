#include <cmath>

#include "attention/cache/model_cost.h"

namespace headscope::attention {

namespace {

/// Returns the pairs of query and key in one layer that caches `window` tokens (0 = all).
double pairsOf(double n, Index window, PairCount count) {
  const auto w = static_cast<double>(window);
  const bool slides = window > 0 && n > w;
  if (count == PairCount::all) return slides ? n * w : n * n;
  return slides ? w * (w + 1) / 2 + (n - w) * w : n * (n + 1) / 2;
}

/// Returns the pairs in one layer of a group for `n` tokens at once. An encoder in front of a decoder may
/// have a different, fixed length.
double groupPairs(const ModelShape& shape, const LayerGroup& group, double n, PairCount count) {
  const auto span = static_cast<double>(group.span);
  switch (group.kind) {
    case CacheKind::recurrent:
      return 0;
    case CacheKind::cross:
      return n * (span > 0 ? span : n);
    case CacheKind::none:
      if (shape.decodes) return group.heads == 0 ? 0 : span > 0 ? span * span : n * n;
      return pairsOf(n, group.span, PairCount::all);
    case CacheKind::chunk: {
      const double whole = std::floor(n / span), rest = n - whole * span;
      return whole * pairsOf(span, 0, count) + pairsOf(rest, 0, count);
    }
    case CacheKind::full:
    case CacheKind::window:
    case CacheKind::latent:
    case CacheKind::shared:
      break;
  }
  return pairsOf(n, group.span, count);
}

/// The sizes of a query and of a value in the products of a pair, over all heads.
double scoreSize(const LayerGroup& group) {
  return static_cast<double>(group.heads * (group.headDim + group.ropeDim));
}
double valueSize(const LayerGroup& group) {
  return static_cast<double>(group.heads * valueDimOf(group));
}

/// Returns the multiplications of a decode step per cached token, over all heads.
double cachedSize(const LayerGroup& group) {
  if (group.kind != CacheKind::latent) return scoreSize(group) + valueSize(group);
  return static_cast<double>(group.heads * (2 * group.latentDim + group.ropeDim));
}

double feedForwardFlops(const ModelShape& shape) {
  return 2 * static_cast<double>(parametersOf(shape).activeFeedForward);
}
double projectionFlops(const ModelShape& shape) {
  return 2 * static_cast<double>(parametersOf(shape).attention);
}

/// Returns the operations on all pairs in a prefill of n tokens.
double pairFlops(const ModelShape& shape, const std::vector<LayerGroup>& groups, double n, PairCount count) {
  double all = 0;
  for (const LayerGroup& group : groups)
    all += 2 * (scoreSize(group) + valueSize(group)) * static_cast<double>(group.layers) *
           groupPairs(shape, group, n, count);
  return all;
}

/// Returns the parameters of a group used by each decoded token: for cross-attention, all but K and V, which
/// are applied once to the encoder's tokens.
double decodedParameters(const ModelShape& shape, const LayerGroup& group) {
  if (shape.decodes && group.kind == CacheKind::none) return 0;
  const double once =
      group.kind == CacheKind::cross
          ? static_cast<double>(shape.modelDim * group.kvHeads * (group.headDim + valueDimOf(group)))
          : 0;
  return static_cast<double>(group.layers) * (static_cast<double>(group.parameters) - once);
}

/// Returns the number of experts a batch reaches on average if each token picks its experts at random.
double expertsReached(const FeedForward& each, double batch) {
  const auto experts = static_cast<double>(each.experts), active = static_cast<double>(each.activeExperts);
  return experts * (1 - std::pow(1 - active / experts, batch));
}

}  // namespace

PrefillWork prefillWork(const ModelShape& shape, Index tokens, PairCount count) {
  const auto n = static_cast<double>(tokens);
  PrefillWork work;
  work.projections = n * projectionFlops(shape);
  work.feedForward = n * feedForwardFlops(shape);
  for (const LayerGroup& group : layerGroups(shape)) {
    const double pairs = static_cast<double>(group.layers) * groupPairs(shape, group, n, count);
    work.scores += 2 * scoreSize(group) * pairs;
    work.weightedSum += 2 * valueSize(group) * pairs;
    work.softmax += 5 * static_cast<double>(group.heads) * pairs;
    work.recurrent += 6 * n * static_cast<double>(group.layers) * static_cast<double>(group.state);
  }
  work.head = 2 * static_cast<double>(parametersOf(shape).head);
  return work;
}

std::optional<Index> attentionOvertakes(const ModelShape& shape, bool feedForward, PairCount count) {
  const std::vector<LayerGroup> groups = layerGroups(shape);
  const double each = projectionFlops(shape) + (feedForward ? feedForwardFlops(shape) : 0);
  // Pairs per token never decrease, so a binary search finds the first place.
  const auto overtakes = [&](Index n) {
    const auto tokens = static_cast<double>(n);
    return pairFlops(shape, groups, tokens, count) / tokens >= each;
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
  DecodeWork work;
  double layers = 0, experts = 0, perToken = 2 * static_cast<double>(all.head);
  for (const FeedForward& each : feedForwards(shape)) {
    if (each.encoder && shape.decodes) continue;
    const double rows = static_cast<double>(each.layers) * static_cast<double>(shape.modelDim),
                 matrices = each.gated ? 3 : 2, expert = rows * matrices * static_cast<double>(each.innerDim);
    const double always =
        rows * (matrices * static_cast<double>(each.sharedDim) + static_cast<double>(each.experts));
    layers += always + (each.experts > 0 ? 0 : expert);
    if (each.experts > 0) experts += expert * expertsReached(each, batch);
    perToken += 2 * (always + expert * (each.experts > 0 ? static_cast<double>(each.activeExperts) : 1));
  }
  for (const LayerGroup& group : layerGroups(shape)) {
    const double decoded = decodedParameters(shape, group);
    LayerGroup read = group;  // what it reads: its own cache or another layer's
    if (read.kind == CacheKind::shared) read.kind = read.span > 0 ? CacheKind::window : CacheKind::full;
    const Index kept = keptTokens(read, request.tokens);
    const auto copies = static_cast<double>(copiesOf(group, request.tensorParallel));
    layers += decoded;
    perToken +=
        2 * decoded + static_cast<double>(group.layers) * (2 * cachedSize(group) * static_cast<double>(kept) +
                                                           6 * static_cast<double>(group.state));
    read.state = 0;
    work.cacheBytes += static_cast<double>(groupBytes(read, kept, request.batch, request.format)) * copies +
                       2 * static_cast<double>(stateBytes(group, request.batch, request.format));
  }
  const double counted = shape.countedBytes > 0 ? static_cast<double>(weightBytes(shape, request)) /
                                                      estimatedWeightBytes(shape, request)
                                                : 1;
  work.weightBytes =
      counted * parameterBytes(shape, request,
                               {.layers = layers, .experts = experts, .head = static_cast<double>(all.head)});
  work.flops = batch * perToken;
  return work;
}

}  // namespace headscope::attention

#include <fmt/core.h>

#include <set>

#include "attention/cache/model_cost.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

/// The largest size allowed. No model exceeds it, and the product of two such sizes doesn't overflow.
constexpr Index kMaxSize = Index{1} << 31;

constexpr ShapeSize kSizes[] = {{"layers", &ModelShape::layers, 1},
                                {"model_dim", &ModelShape::modelDim, 1},
                                {"heads", &ModelShape::heads, 1, true},
                                {"kv_heads", &ModelShape::kvHeads, 1, true},
                                {"head_dim", &ModelShape::headDim, 1, true},
                                {"context", &ModelShape::context, 1},
                                {"window", &ModelShape::window},
                                {"global_layers", &ModelShape::globalLayers},
                                {"latent_dim", &ModelShape::latentDim},
                                {"rope_dim", &ModelShape::ropeDim},
                                {"query_latent", &ModelShape::queryLatent},
                                {"value_dim", &ModelShape::valueDim},
                                {"inner_dim", &ModelShape::innerDim},
                                {"vocabulary", &ModelShape::vocabulary},
                                {"embedding_dim", &ModelShape::embeddingDim},
                                {"positions", &ModelShape::positions},
                                {"dense_layers", &ModelShape::denseLayers},
                                {"experts", &ModelShape::experts},
                                {"active_experts", &ModelShape::activeExperts},
                                {"shared_experts", &ModelShape::sharedExperts},
                                {"expert_dim", &ModelShape::expertDim}};

}  // namespace

std::span<const ShapeSize> shapeSizes() {
  return kSizes;
}

Status validate(const ModelShape& shape) {
  const bool attends = shape.groups.empty() || std::ranges::any_of(shape.groups, [](const LayerGroup& group) {
                         return group.heads > 0;
                       });
  for (const ShapeSize& size : kSizes) {
    const Index least = size.attends && !attends ? 0 : size.least, value = shape.*size.member;
    if (value < least || value > kMaxSize)
      return Error{fmt::format("{} is {}, expected {} to {}", size.name, value, least, kMaxSize)};
  }
  if (shape.kvHeads > 0 && shape.heads % shape.kvHeads != 0)
    return Error{
        fmt::format("kv_heads is {}, expected a divisor of the {} heads", shape.kvHeads, shape.heads)};
  if (shape.globalLayers > shape.layers)
    return Error{
        fmt::format("global_layers is {}, expected at most the {} layers", shape.globalLayers, shape.layers)};
  if (shape.activeExperts > shape.experts)
    return Error{fmt::format("active_experts is {}, expected at most the {} experts", shape.activeExperts,
                             shape.experts)};
  if (shape.denseLayers > shape.layers)
    return Error{
        fmt::format("dense_layers is {}, expected at most the {} layers", shape.denseLayers, shape.layers)};
  return success();
}

WeightStorage storageOf(WeightFormat format) {
  const WeightFormatRow& row = rowOf(format);
  return {.name = std::string(row.name), .bits = row.bits, .covers = row.covers, .computes = row.computes};
}

std::uint64_t attentionParameters(const ModelShape& shape) {
  const Index d = shape.modelDim, heads = shape.heads, s = shape.headDim;
  if (!shape.isLatent()) {
    const std::uint64_t queries = shape.queryLatent > 0
                                      ? saturatingSum({saturatingProduct({d, shape.queryLatent}),
                                                       saturatingProduct({shape.queryLatent, heads, s})})
                                      : saturatingProduct({d, heads, s});
    return saturatingSum(
        {queries, saturatingProduct({d, heads, s}), saturatingProduct({2, d, shape.kvHeads, s})});
  }
  const Index value = shape.valueDim > 0 ? shape.valueDim : s;
  const std::uint64_t queries =
      shape.queryLatent > 0
          ? saturatingSum({saturatingProduct({d, shape.queryLatent}),
                           saturatingProduct({shape.queryLatent, heads, s + shape.ropeDim})})
          : saturatingProduct({d, heads, s + shape.ropeDim});
  return saturatingSum({queries, saturatingProduct({d, shape.latentDim + shape.ropeDim}),
                        saturatingProduct({shape.latentDim, heads, s + value}),
                        saturatingProduct({heads, value, d})});
}

std::vector<LayerGroup> layerGroups(const ModelShape& shape) {
  if (!shape.groups.empty()) return shape.groups;
  LayerGroup all{.kind = !shape.decodes     ? CacheKind::none
                         : shape.isLatent() ? CacheKind::latent
                                            : CacheKind::full,
                 .layers = shape.layers,
                 .heads = shape.heads,
                 .kvHeads = shape.kvHeads,
                 .headDim = shape.headDim,
                 .valueDim = shape.valueDim,
                 .latentDim = shape.latentDim,
                 .ropeDim = shape.ropeDim,
                 .parameters = attentionParameters(shape)};
  if (shape.window == 0) return {all};
  LayerGroup slides = all;
  all.layers = shape.globalLayers;
  slides.layers = shape.layers - shape.globalLayers;
  slides.span = shape.window;
  if (shape.decodes) slides.kind = CacheKind::window;
  return {all, slides};
}

std::vector<FeedForward> feedForwards(const ModelShape& shape) {
  if (!shape.feedForward.empty()) return shape.feedForward;
  FeedForward dense{.layers = shape.layers, .innerDim = shape.innerDim, .gated = shape.gated};
  if (shape.experts == 0) return {dense};
  dense.layers = shape.denseLayers;
  return {dense,
          {.layers = shape.layers - shape.denseLayers,
           .innerDim = shape.expertDim,
           .experts = shape.experts,
           .activeExperts = shape.activeExperts,
           .sharedDim = static_cast<Index>(saturatingProduct({shape.sharedExperts, shape.expertDim})),
           .gated = shape.gated}};
}

bool isHybrid(const ModelShape& shape) {
  std::set<CacheKind> kinds;
  for (const LayerGroup& group : layerGroups(shape)) kinds.insert(group.kind);
  const std::set<CacheKind> plain[] = {{CacheKind::full, CacheKind::window},
                                       {CacheKind::window},
                                       {CacheKind::full},
                                       {CacheKind::latent},
                                       {CacheKind::none}};
  return std::find(std::begin(plain), std::end(plain), kinds) == std::end(plain);
}

ShapeParameters parametersOf(const ModelShape& shape) {
  ShapeParameters all;
  for (const LayerGroup& group : layerGroups(shape)) {
    addTo(all.attention, saturatingMultiply(group.parameters, unsignedOf(group.layers)));
    if (shape.decodes && group.kind == CacheKind::none)
      addTo(all.encoder, saturatingMultiply(group.parameters, unsignedOf(group.layers)));
  }
  for (const FeedForward& each : feedForwards(shape)) {
    const Index matrices = each.gated ? 3 : 2, d = shape.modelDim;
    const std::uint64_t expert = saturatingProduct({each.layers, matrices, d, each.innerDim});
    const std::uint64_t always = saturatingSum({saturatingProduct({each.layers, matrices, d, each.sharedDim}),
                                                saturatingProduct({each.layers, d, each.experts})});
    const std::uint64_t routed = each.experts > 0 ? saturatingMultiply(expert, unsignedOf(each.experts)) : 0;
    addTo(all.experts, routed);
    addTo(all.feedForward, saturatingSum({always, each.experts > 0 ? routed : expert}));
    addTo(all.activeFeedForward,
          saturatingSum({always, each.experts > 0 ? saturatingMultiply(expert, unsignedOf(each.activeExperts))
                                                  : expert}));
    if (each.encoder) addTo(all.encoder, saturatingSum({always, expert}));
  }
  const Index width = shape.embeddingDim > 0 ? shape.embeddingDim : shape.modelDim;
  all.embedding = saturatingProduct({shape.vocabulary + shape.positions, width});
  all.head = saturatingProduct({shape.vocabulary, width});
  const std::uint64_t rest =
      saturatingSum({all.attention, all.embedding, shape.tied ? 0 : all.head, shape.otherParameters});
  all.active = saturatingSum({rest, all.activeFeedForward}) - shape.repeatedParameters;
  all.total = saturatingSum({rest, all.feedForward}) - shape.repeatedParameters;
  if (shape.countedParameters > 0) all.total = shape.countedParameters;
  return all;
}

const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name) {
  for (const ModelShape& shape : shapes)
    if (lowerCase(shape.name) == lowerCase(name)) return &shape;
  return nullptr;
}

}  // namespace headscope::attention

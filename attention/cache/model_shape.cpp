#include "attention/cache/model_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "attention/core/saturating.h"

namespace headscope::attention {

namespace {

/// Sizes beyond this are no model's, and products of two of them still fit.
constexpr Index kMostSize = Index{1} << 31;

std::string notPositive(const ModelShape& shape) {
  const std::pair<const char*, Index> sizes[] = {{"layers", shape.layers},    {"model_dim", shape.modelDim},
                                                 {"heads", shape.heads},      {"kv_heads", shape.kvHeads},
                                                 {"head_dim", shape.headDim}, {"context", shape.context}};
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > kMostSize) return fmt::format("{} is {}, expected 1 to {}", name, size, kMostSize);
  return {};
}

std::string negative(const ModelShape& shape) {
  const std::pair<const char*, Index> sizes[] = {{"window", shape.window},
                                                 {"global_layers", shape.globalLayers},
                                                 {"latent_dim", shape.latentDim},
                                                 {"rope_dim", shape.ropeDim},
                                                 {"query_latent", shape.queryLatent},
                                                 {"value_dim", shape.valueDim},
                                                 {"inner_dim", shape.innerDim},
                                                 {"vocabulary", shape.vocabulary},
                                                 {"positions", shape.positions},
                                                 {"dense_layers", shape.denseLayers},
                                                 {"experts", shape.experts},
                                                 {"active_experts", shape.activeExperts},
                                                 {"shared_experts", shape.sharedExperts},
                                                 {"expert_dim", shape.expertDim}};
  for (const auto& [name, size] : sizes)
    if (size < 0 || size > kMostSize) return fmt::format("{} is {}, expected 0 to {}", name, size, kMostSize);
  return {};
}

}  // namespace

Status validate(const ModelShape& shape) {
  if (std::string bad = notPositive(shape); !bad.empty()) return Error{bad};
  if (std::string bad = negative(shape); !bad.empty()) return Error{bad};
  if (shape.heads % shape.kvHeads != 0)
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

std::uint64_t attentionParameters(const ModelShape& shape) {
  const Index d = shape.modelDim, heads = shape.heads, s = shape.headDim;
  if (!shape.isLatent())
    return saturatingSum({saturatingProduct({2, d, heads, s}), saturatingProduct({2, d, shape.kvHeads, s})});
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

namespace {

/// A product with a count that is already large.
std::uint64_t times(std::uint64_t count, Index factor) {
  std::uint64_t product;
  return __builtin_mul_overflow(count, static_cast<std::uint64_t>(factor), &product)
             ? std::numeric_limits<std::uint64_t>::max()
             : product;
}

}  // namespace

ShapeParameters parametersOf(const ModelShape& shape) {
  ShapeParameters all;
  const Index matrices = shape.gated ? 3 : 2;
  const Index dense = shape.experts > 0 ? shape.denseLayers : shape.layers, mixed = shape.layers - dense;
  const std::uint64_t wide = saturatingProduct({dense, matrices, shape.modelDim, shape.innerDim});
  const std::uint64_t expert = saturatingProduct({mixed, matrices, shape.modelDim, shape.expertDim});
  const std::uint64_t router = saturatingProduct({mixed, shape.modelDim, shape.experts});
  all.attention = times(attentionParameters(shape), shape.layers);
  all.feedForward = saturatingSum({wide, times(expert, shape.experts + shape.sharedExperts), router});
  all.activeFeedForward =
      saturatingSum({wide, times(expert, shape.activeExperts + shape.sharedExperts), router});
  all.embedding = saturatingSum({saturatingProduct({shape.vocabulary, shape.modelDim}),
                                 saturatingProduct({shape.positions, shape.modelDim})});
  all.head = saturatingProduct({shape.vocabulary, shape.modelDim});
  all.total = saturatingSum({all.attention, all.feedForward, all.embedding, shape.tied ? 0 : all.head});
  return all;
}

const ModelShape* findShape(const std::vector<ModelShape>& shapes, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  for (const ModelShape& shape : shapes)
    if (std::equal(shape.name.begin(), shape.name.end(), name.begin(), name.end(), same)) return &shape;
  return nullptr;
}

}  // namespace headscope::attention

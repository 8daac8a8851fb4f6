#include <fmt/core.h>

#include "attention/models/config/layer_plan.h"

namespace headscope::attention {

namespace {

/// Refuses what isn't counted: sinks, sparse attention.
void refuseOthers(const ConfigReader& part, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (part.has(key) && part.differs(key, "false")) part.refuse(key, "set", "null or false");
}

/// Two thirds of 2 · factor · modelDim, in steps of 256, as Llama's code has it.
Index innerDimOf(const ConfigReader& part, Index modelDim) {
  if (part.has("intermediate_size")) return part.size("intermediate_size");
  const double factor = std::min(part.positive("ffn_mult", 4.0), 1e3);
  const auto inner = static_cast<Index>(2 * factor * static_cast<double>(modelDim) / 3);
  return (inner + 255) / 256 * 256;
}

}  // namespace

std::vector<PlannedLayer> planBlocks(const ConfigReader& json, Index layers, Index heads, Index modelDim) {
  std::vector<PlannedLayer> plan;
  for (const ConfigReader& block : json.objects("block_configs")) {
    const ConfigReader attention = block.object("attention"), inner = block.object("ffn");
    refuseOthers(attention, {"num_sink_tokens", "sparsify", "unshifted_sink"});
    refuseOthers(inner, {"sparsify"});
    PlannedLayer layer;
    layer.linear = attention.flag("replace_with_linear", false);
    layer.span = attention.size("window_length", 0, 0, kMaxPositions);
    const Index shared = attention.size("n_heads_in_group", 1);
    layer.kvHeads = attention.size("num_key_value_heads", std::max<Index>(1, heads / shared));
    layer.mixer = attention.flag("no_op", false) || layer.linear ? CacheKind::none
                  : layer.span > 0                               ? CacheKind::window
                                                                 : CacheKind::full;
    if (layer.mixer == CacheKind::none) layer.kvHeads = 0;
    const bool none = inner.flag("no_op", false), square = inner.flag("replace_with_linear", false);
    layer.inner = none ? PlannedLayer::Inner::none : PlannedLayer::Inner::dense;
    if (!none) layer.innerDim = innerDimOf(inner, modelDim);
    // A gated part of that width has as many weights as one square matrix.
    if (square) layer.innerDim = std::max<Index>(1, modelDim / 3);
    plan.push_back(layer);
  }
  if (std::ssize(plan) != layers)
    json.refuse("block_configs", fmt::format("a list of {}", plan.size()),
                fmt::format("one for each of the {} layers", layers));
  return plan;
}

}  // namespace headscope::attention

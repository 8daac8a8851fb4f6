#include "attention/models/config/shape_parts.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/config/layer_plan.h"

namespace headscope::attention {

namespace {

bool isEncoderClass(std::string_view name) {
  static constexpr std::string_view kEnds[] = {
      "ForMaskedLM",          "ForMaskedImageModeling",      "ForCTC",
      "ForObjectDetection",   "ForImageClassification",      "ForSemanticSegmentation",
      "ForImageSegmentation", "ForUniversalSegmentation",    "ForInstanceSegmentation",
      "ForDepthEstimation",   "ForVideoClassification",      "ForAudioClassification",
      "ForXVector",           "ForAudioFrameClassification", "EncoderModel"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

std::string countedLayers(Index count) {
  return count == 1 ? "a layer" : fmt::format("{} layers", count);
}

/// One layer like the last, or several.
ModelShape lastLayers(const ModelShape& shape, Index count) {
  ModelShape some = shape;
  some.groups = {shape.groups.back()};
  some.feedForward = {shape.feedForward.back()};
  some.groups[0].layers = some.feedForward[0].layers = count;
  return some;
}

/// Layers that predict further tokens: each is a layer like the last, a projection of both inputs, and its
/// own tables.
void addPredictingLayers(const ConfigReader& json, ModelShape& shape) {
  constexpr std::uint64_t kMaxEach = std::uint64_t{1} << 62;
  const Index ahead = json.size("num_nextn_predict_layers", 0, 0, kMaxLayers);
  if (ahead == 0) return;
  if (!shape.groups.empty() && !shape.feedForward.empty()) {
    const ShapeParameters layer = parametersOf(lastLayers(shape, 1));
    const std::uint64_t each = saturatingSum({layer.attention, layer.feedForward, layer.head, layer.head,
                                              saturatingProduct({2, shape.modelDim, shape.modelDim})});
    shape.mtpParameters = saturatingProduct({ahead, static_cast<Index>(std::min(each, kMaxEach))});
  }
  shape.notes.push_back(fmt::format("{} that {} further tokens {} not counted", countedLayers(ahead),
                                    ahead == 1 ? "predicts" : "predict", ahead == 1 ? "is" : "are"));
}

}  // namespace

std::string architectureOf(const ConfigReader& json) {
  const std::string type = json.text("model_type", "");
  if (!type.empty()) return "model_type " + quotedText(type);
  const std::string name = classOf(json);
  return name.empty() ? "a model without a model_type" : "the architecture " + quotedText(name);
}

void refuseForeignLayers(const ConfigReader& json) {
  static constexpr std::string_view kForeign[] = {
      "ssm_",         "mamba_",     "state_size",     "time_step_",       "rwkv",
      "wkv",          "linear_key", "linear_num",     "linear_attn",      "conv_kernel",
      "conv_L_cache", "conv1d",     "lru_width",      "attn_layer_",      "hybrid_",
      "block_types",  "delta_",     "attn_type_list", "layer_block_type", "layers_block_type",
      "mixer_types",  "compress_",  "attention_k_eq"};
  for (const std::string& name : json.names())
    for (const std::string_view foreign : kForeign)
      if (name.starts_with(foreign))
        return json.fail(fmt::format(
            "{} belongs to layers of {} that Headscope doesn't know, so their cache can't be counted",
            json.at(name), architectureOf(json)));
}

bool isEncoder(const ConfigReader& root, const ConfigReader& json) {
  const bool both =
      !json.isText("use_bidirectional_attention") && json.flag("use_bidirectional_attention", false);
  return both || !json.flag("is_causal", true) || isEncoderClass(classOf(root)) ||
         isEncoderClass(classOf(json));
}

Index pictureTokens(const ConfigReader& root) {
  const ConfigReader vision = root.object("vision_config");
  const Index side = vision.size("image_size", 560) / vision.size("patch_size", 14);
  return vision.size("max_num_tiles", 4) * (side * side + 1);
}

void addSharedBlocks(const ConfigReader& json, const ModelType* type, ModelShape& shape) {
  Index used = shape.layers, stored = storedLayers(json, type, used);
  if (type && type->name == "zamba2") {
    const std::vector<std::string> kinds = json.texts("layers_block_type");
    used = std::ranges::count(kinds, "hybrid");
    stored = json.size("num_mem_blocks", 1);
    const Index wide = json.size("attention_hidden_size", std::min(2 * shape.modelDim, kMaxConfigSize)),
                inner = shape.heads * shape.headDim;
    shape.groups.push_back({.kind = CacheKind::full,
                            .layers = used,
                            .heads = shape.heads,
                            .kvHeads = shape.kvHeads,
                            .headDim = shape.headDim,
                            .parameters = saturatingSum({saturatingProduct({3, wide, inner}),
                                                         saturatingProduct({inner, shape.modelDim})})});
    shape.feedForward.push_back({.layers = used, .innerDim = shape.innerDim, .gated = true});
  }
  if (stored >= used || shape.groups.empty() || shape.feedForward.empty()) return;
  const ShapeParameters repeated = parametersOf(lastLayers(shape, used - stored));
  shape.repeatedParameters = saturatingSum({repeated.attention, repeated.feedForward});
}

void addNotes(const ConfigReader& root, const ConfigReader& json, const ModelType* type, ModelShape& shape) {
  addPredictingLayers(json, shape);
  for (const LayerGroup& group : shape.groups)
    if (group.kind == CacheKind::shared && !json.flag("use_cla", false))
      shape.notes.push_back(
          fmt::format("maps to keys and values in {} with a shared cache are counted: published files hold "
                      "them, but nothing uses them",
                      countedLayers(group.layers)));
  if (!json.tokens("cross_attention_layers").empty())
    shape.notes.push_back(fmt::format(
        "layers that attend to a picture cache its {} tokens, not those of the text", pictureTokens(root)));
  if (hasTrait(type, "memory") && shape.window > 0)
    shape.notes.push_back("a layer caches the hidden states of earlier tokens, not keys and values");
  if (type && type->name == "transfo-xl")
    shape.notes.push_back("rare words have narrower embeddings than are counted");
  if (const Index idle = json.size("zero_expert_num", 0, 0); idle > 0)
    shape.notes.push_back(fmt::format("{} experts do nothing: times count {} working experts for each token",
                                      idle, shape.activeExperts));
  if (json.has("index_topk"))
    shape.notes.push_back("sparse attention reads only some of the cached tokens; times count all of them");
}

}  // namespace headscope::attention

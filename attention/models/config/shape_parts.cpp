#include "attention/models/config/shape_parts.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"

namespace headscope::attention {

namespace {

bool isEncoderClass(std::string_view name) {
  static constexpr std::string_view kEnds =
      "ForMaskedLM ForMaskedImageModeling ForCTC ForObjectDetection ForImageClassification "
      "ForSemanticSegmentation ForImageSegmentation ForUniversalSegmentation "
      "ForInstanceSegmentation ForDepthEstimation ForVideoClassification ForAudioClassification "
      "ForXVector ForAudioFrameClassification EncoderModel";
  return anyListed(kEnds, [&](std::string_view end) { return name.ends_with(end); });
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

bool hasEncoder(const ModelShape& shape) {
  return std::ranges::any_of(shape.feedForward, &FeedForward::encoder);
}

/// Sums products, saturating.
class Sum {
 public:
  void add(std::initializer_list<Index> factors) { sum_ = saturatingSum({sum_, saturatingProduct(factors)}); }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// Numbers in the biases and norms of a layer's attention.
Index smallParts(const ConfigReader& json, const CatalogueType* type, const LayerGroup& group, Index d) {
  const bool all = hasTrait(type, "biases");
  const bool some = all || json.flag("attention_bias", false) || (type && type->name.starts_with("qwen2"));
  const Index rows = (group.heads + 2 * group.kvHeads) * group.headDim + (all ? d : 0);
  return (some ? rows : 0) + (all ? 4 : 2) * d;
}

/// Adds an encoder's pooler, or the d × d map of the head that its class has besides the embedding.
void addHeadMap(Sum& sum, const ConfigReader& json, const CatalogueType* type, const ModelShape& shape) {
  const std::string name = classOf(json);
  const bool pooler = hasTrait(type, "pooler");
  const bool labels = name.ends_with("ForTokenClassification") || name.ends_with("ForQuestionAnswering");
  const bool words = name.ends_with("ForMaskedLM") || name.ends_with("ForCausalLM");
  if (!pooler && !hasTrait(type, "dense")) return;
  if (words) sum.add({shape.vocabulary});
  if (pooler ? labels : name.ends_with("Model") || (labels && !isType(type, "modernbert"))) return;
  const Index maps = pooler && name.ends_with("ForPreTraining") ? 2 : 1;
  sum.add({maps, shape.modelDim, words && shape.embeddingDim > 0 ? shape.embeddingDim : shape.modelDim});
}

/// Adds DeBERTa's relative positions (He et al. 2021, DeBERTa, section 3.1): a table, maps of its rows in
/// each layer unless those of the keys and queries are used, and the convolution beside the first layer.
void addRelativePositions(Sum& sum, const ConfigReader& json, const ModelShape& shape) {
  const Index d = shape.modelDim;
  if (!json.flag("relative_attention", false)) return;
  Index reach = json.size("position_buckets", -1, -1, kMaxPositions);
  if (reach < 1) reach = json.size("max_relative_positions", -1, -1, kMaxPositions);
  sum.add({2, reach < 1 ? shape.context : reach, d});
  if (const Index kernel = json.size("conv_kernel_size", 0, 0); kernel > 0) sum.add({kernel, d, d});
  if (json.flag("share_att_key", false)) return;
  const bool one = json.isText("pos_att_type");  // "c2p|p2c"; newer files have a list
  const std::string all = one ? json.text("pos_att_type", "") : "";
  const Index maps = one ? (all.find("c2p") != all.npos) + (all.find("p2c") != all.npos)
                         : std::ssize(json.texts("pos_att_type"));
  sum.add({shape.layers, maps, d, d});
}

/// Adds what each use of Zamba2's shared blocks has of its own: a map of its output, and an adapter of its
/// MLP.
void addAdapters(Sum& sum, const ConfigReader& json, const ModelShape& shape) {
  const Index d = shape.modelDim, uses = shape.groups.back().layers;
  sum.add({uses, d, d});
  sum.add({uses, json.size("adapter_rank", 128), d + 2 * shape.innerDim});
}

/// Adds the convolutions of wav2vec 2.0 (Baevski et al. 2020, section 2): over the wave, then over positions.
void addConvolutions(Sum& sum, const ConfigReader& json, Index d) {
  const std::vector<Index> widths = json.tokens("conv_dim"), kernels = json.tokens("conv_kernel");
  Index before = 1;
  for (std::size_t i = 0; i < std::min(widths.size(), kernels.size()); ++i)
    sum.add({std::exchange(before, std::min(widths[i], kMaxConfigSize)), widths[i], kernels[i]});
  sum.add({before, d});
  sum.add({d, d / json.size("num_conv_pos_embedding_groups"), json.size("num_conv_pos_embeddings")});
}

/// Adds Gemma 3n's tables for each layer, LAuReL and AltUp.
void addTablesByLayer(Sum& sum, const ConfigReader& json, const ModelShape& shape) {
  const Index d = shape.modelDim;
  const Index per = json.size("hidden_size_per_layer_input"), rank = json.size("laurel_rank", 64);
  sum.add({shape.layers, json.size("vocab_size_per_layer_input", {}, 1, kMaxPositions), per});
  sum.add({shape.layers, d, 3 * per + 2 * rank});
  sum.add({2 * (json.size("altup_num_inputs", 4) - 1), d, d});
}

}  // namespace

std::string architectureOf(const ConfigReader& json) {
  const std::string type = json.text("model_type", "");
  if (!type.empty()) return "model_type " + quotedText(type);
  const std::string name = classOf(json);
  return name.empty() ? "a model without a model_type" : "the architecture " + quotedText(name);
}

void refuseForeignLayers(const ConfigReader& json) {
  static constexpr std::string_view kForeign =
      "ssm_ mamba_ state_size time_step_ rwkv wkv linear_key linear_num linear_attn conv_kernel "
      "conv_L_cache conv1d lru_width attn_layer_ hybrid_ block_types delta_ attn_type_list "
      "layer_block_type layers_block_type mixer_types compress_ attention_k_eq";
  for (const std::string& name : json.names())
    if (anyListed(kForeign, [&](std::string_view foreign) { return name.starts_with(foreign); }))
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

void addSharedBlocks(const ConfigReader& json, const CatalogueType* type, ModelShape& shape) {
  Index used = shape.layers, stored = storedLayers(json, type, used);
  if (isType(type, "zamba2")) {
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

void addNotes(const ConfigReader& root, const ConfigReader& json, const CatalogueType* type,
              ModelShape& shape) {
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
  if (isType(type, "transfo-xl"))
    shape.notes.push_back("rare words have narrower embeddings than are counted");
  if (const Index idle = json.size("zero_expert_num", 0, 0); idle > 0)
    shape.notes.push_back(fmt::format("{} experts do nothing: times count {} working experts for each token",
                                      idle, shape.activeExperts));
  if (json.has("index_topk"))
    shape.notes.push_back("sparse attention reads only some of the cached tokens; times count all of them");
}

// The parameters of norms, biases, heads and tables.

Index storedLayers(const ConfigReader& json, const CatalogueType* type, Index layers) {
  if (!hasTrait(type, "repeated")) return layers;
  return std::min(layers, json.size("num_hidden_groups", 1) * json.size("inner_group_num", 1));
}

Index positionRows(const ConfigReader& json, const CatalogueType* type, const ModelShape& shape) {
  if (!hasTrait(type, "positions") || !json.flag("position_biased_input", true) ||
      json.text("position_embedding_type", "") == "rotary")
    return 0;
  const bool pair = hasEncoder(shape);
  const bool two = isType(type, "opt bart mbart");
  const Index rows = shape.context + (two ? 2 : 0);
  if (isType(type, "whisper"))
    return rows + (pair ? json.size("max_source_positions", 1500, 1, kMaxPositions) : 0);
  return pair ? 2 * rows : rows;
}

std::uint64_t otherParameters(const ConfigReader& json, const CatalogueType* type, const ModelShape& shape) {
  const Index d = shape.modelDim;
  const bool biases = hasTrait(type, "biases");
  Sum sum;
  sum.add({biases ? 2 : 1, d});  // the last norm
  for (const LayerGroup& group : shape.groups)
    sum.add({storedLayers(json, type, group.layers), smallParts(json, type, group, d)});
  if (biases)
    for (const FeedForward& each : shape.feedForward)
      sum.add({storedLayers(json, type, each.layers), each.innerDim + d});
  if (isType(type, "gpt_oss"))  // biases of all experts
    sum.add({shape.layers, shape.experts, 2 * shape.expertDim + d});
  if (const Index e = shape.embeddingDim; e > 0) {
    const bool back = isType(type, "opt");  // OPT's positions are d wide, and its head maps back to e
    sum.add({back ? 2 : 1, d, e});
    if (back) sum.add({shape.positions, std::max<Index>(0, d - e)});
  }
  addHeadMap(sum, json, type, shape);
  if (isType(type, "albert") && classOf(json).ends_with("ForMaskedLM")) sum.add({d, d});  // and its pooler
  if (isType(type, "longformer")) sum.add({3, shape.layers, d, d + 1});  // of tokens that all others see
  if (isType(type, "zamba2")) addAdapters(sum, json, shape);
  if (hasTrait(type, "waves")) addConvolutions(sum, json, d);
  if (type && type->name.starts_with("deberta")) addRelativePositions(sum, json, shape);
  if (json.has("vocab_size_per_layer_input")) addTablesByLayer(sum, json, shape);
  if (isType(type, "whisper") && hasEncoder(shape)) sum.add({3, d, json.size("num_mel_bins", 80) + d});
  if (json.has("patch_size") && !shape.decodes) {
    const Index patch = json.size("patch_size"), side = json.size("image_size") / std::max<Index>(1, patch);
    sum.add({3, patch, patch, d});
    sum.add({side, side, d});
  }
  return sum.value();
}

}  // namespace headscope::attention

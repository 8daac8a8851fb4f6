#include "attention/models/config/model_shape_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "attention/core/saturating.h"
#include "attention/formats/quote.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/layer_plan.h"
#include "attention/models/config/model_types.h"
#include "attention/models/config/quantization.h"
#include "attention/models/config/size_finder.h"

namespace headscope::attention {

namespace {

/// The model's type as the file gives it, for messages.
std::string architectureOf(const ConfigReader& json) {
  const std::string type = json.text("model_type", "");
  if (!type.empty()) return "model_type " + quotedText(type);
  const std::vector<std::string> names = json.texts("architectures");
  return names.empty() ? "a model without a model_type" : "the architecture " + quotedText(names[0]);
}

/// Refuses fields of layers that cache something other than keys and values. If an unknown type has them, its
/// other fields can't tell what it caches.
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

/// Names of the sizes of one stack of layers, an encoder's or a decoder's.
struct StackKeys {
  NameList layers, heads, inner;
};
const StackKeys kDecoder{
    {"num_decoder_layers", "decoder_layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers"},
    {"decoder_attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads"},
    {"decoder_ffn_dim", "intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"}};
const StackKeys kEncoder{
    {"encoder_layers", "num_layers"}, {"encoder_attention_heads", "num_heads"}, {"encoder_ffn_dim", "d_ff"}};

constexpr std::uint64_t kMaxAhead = std::uint64_t{1} << 62;

/// Turns a config.json into a shape: first its sizes, then its layers by kind.
class ShapeReader {
 public:
  ShapeReader(const ConfigReader& json, const ModelType* type) : json_(json), type_(type), sizes_(json) {}

  ModelShape read() {
    readSizes();
    readFeedForward();
    if (!sizes_.missing().empty()) return shape_;
    const bool pair = json_.has("decoder_layers") || hasType("t5") || hasType("mt5") || hasType("umt5");
    addLayers(planLayers(json_, type_, shape_.layers, shape_.experts > 0));
    if (pair) addEncoder();
    addTables();
    headline();
    return shape_;
  }
  const SizeFinder& sizes() const { return sizes_; }

 private:
  bool has(std::string_view trait) const { return hasTrait(type_, trait); }
  bool hasType(std::string_view name) const { return type_ && type_->name == name; }
  bool attends() const {
    return !hasType("mamba") && !hasType("falcon_mamba") && !hasType("mamba2") && !hasType("rwkv");
  }

  void readSizes() {
    shape_.layers = sizes_.needed("layers", kDecoder.layers, kMaxLayers);
    shape_.modelDim =
        sizes_.needed("the model's size", {"hidden_size", "n_embd", "d_model", "n_embed", "dim"});
    shape_.decodes = !has("encoder") && !json_.has("image_size");
    shape_.vocabulary = sizes_.optional({"padded_vocab_size", "vocab_size"}, 0, kMaxPositions);
    shape_.context = sizes_.assumed(
        "the context length",
        {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "context_length",
         "max_target_positions", "model_max_length", "max_sequence_length", "seq_len"},
        2048, kMaxPositions);
    shape_.contextKnown = sizes_.assumed().empty();
    if (!attends()) return;
    shape_.heads = sizes_.needed("heads", kDecoder.heads);
    shape_.kvHeads = kvHeads();
    shape_.headDim = sizes_.optional({"head_dim", "attention_head_dim", "kv_channels", "d_kv"},
                                     std::max<Index>(1, shape_.modelDim / std::max<Index>(shape_.heads, 1)));
    shape_.latentDim = sizes_.optional({"kv_lora_rank"});
    if (shape_.latentDim == 0) return;
    shape_.ropeDim = sizes_.optional({"qk_rope_head_dim"}, 64);
    shape_.queryLatent = sizes_.optional({"q_lora_rank"});
    shape_.headDim = sizes_.optional({"qk_nope_head_dim"}, 128);
    shape_.valueDim = sizes_.optional({"v_head_dim"}, 128);
    shape_.kvHeads = shape_.heads;
  }

  /// Falcon-7B names 71 kv heads but has one: multi_query takes precedence, except in the newer architecture.
  Index kvHeads() {
    const ConfigReader attention = json_.object("attn_config");
    if (attention.has("kv_n_heads")) return attention.size("kv_n_heads");
    if (json_.flag("multi_query", false) && !json_.flag("new_decoder_architecture", false)) return 1;
    const bool fewer = !json_.has("multi_query_attention") || json_.flag("multi_query_attention", false);
    return sizes_.optional({"num_key_value_heads", "num_kv_heads", "n_head_kv",
                            fewer ? "multi_query_group_num" : "num_kv_heads"},
                           shape_.heads);
  }

  void readFeedForward() {
    const ConfigReader nested = json_.object("ffn_config");
    const Index usual = std::min(json_.size("expansion_ratio", 4) * shape_.modelDim, kMaxConfigSize);
    if (json_.isList("intermediate_size")) {  // one per layer; all are equal in published files
      const std::vector<Index> each = json_.tokens("intermediate_size");
      shape_.innerDim = each.empty() ? usual : each[0];
      if (std::count(each.begin(), each.end(), shape_.innerDim) != std::ssize(each))
        json_.refuse("intermediate_size", fmt::format("a list of {} that differ", each.size()),
                     "one width for all layers");
    } else if (nested.has("ffn_hidden_size")) {
      shape_.innerDim = nested.size("ffn_hidden_size");
    } else if (has("4d") || hasType("rwkv") || json_.has("moe_intermediate_size")) {
      shape_.innerDim = sizes_.optional(kDecoder.inner, usual);
      if (shape_.innerDim == 0) shape_.innerDim = usual;
    } else if (attends()) {
      shape_.innerDim = sizes_.assumed("the feed-forward width", kDecoder.inner, usual);
    }
    // These files give the width of both inner matrices together.
    if (hasType("qwen") || hasType("recurrent_gemma")) shape_.innerDim /= 2;
    shape_.gated = !has("plain") && !hasType("rwkv");
    if (hasType("t5") || hasType("mt5") || hasType("umt5"))
      shape_.gated =
          json_.text("feed_forward_proj", hasType("t5") ? "relu" : "gated-gelu").starts_with("gated");
    const bool inside = nested.has("moe_num_experts");
    shape_.experts =
        inside ? nested.size("moe_num_experts")
               : sizes_.optional({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"});
    if (shape_.experts <= 1) {
      shape_.experts = 0;
      return;
    }
    shape_.activeExperts =
        inside ? nested.size("moe_top_k", 1)
               : sizes_.optional({"num_experts_per_tok", "num_experts_per_token", "experts_per_token",
                                  "num_selected_experts", "moe_top_k", "moe_k", "moe_topk"},
                                 1);
    shape_.expertDim = sizes_.optional({"moe_intermediate_size", "expert_dim"}, shape_.innerDim);
    shape_.sharedExperts =
        sizes_.optional({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"});
    if (json_.has("intermediate_size_mlp")) shape_.innerDim = json_.size("intermediate_size_mlp");
  }

  /// Parameters in the biases and norms of a group's attention.
  Index smallParts(const LayerGroup& group) const {
    const bool biases =
        has("biases") || json_.flag("attention_bias", false) || (type_ && type_->name.starts_with("qwen2"));
    const Index rows =
        (group.heads + 2 * group.kvHeads) * group.headDim + (has("biases") ? shape_.modelDim : 0);
    return (biases ? rows : 0) + (has("biases") ? 4 : 2) * shape_.modelDim;
  }

  std::uint64_t attentionOf(const LayerGroup& group) const {
    ModelShape one = shape_;
    one.heads = group.heads;
    one.kvHeads = group.kvHeads;
    std::uint64_t all = attentionParameters(one);
    if (json_.flag("attn_output_gate", false))
      all = saturatingSum({all, saturatingProduct({shape_.modelDim, group.heads, group.headDim})});
    if (group.indexDim > 0) {
      const Index heads = json_.size("index_n_heads", 1);
      all = saturatingSum({all, saturatingProduct({shape_.queryLatent, heads, group.indexDim}),
                           saturatingProduct({shape_.modelDim, group.indexDim + heads})});
    }
    return all;
  }

  LayerGroup groupOf(CacheKind kind) const {
    if (kind == CacheKind::recurrent) return recurrentLayer(json_, type_, shape_.modelDim);
    LayerGroup group{.kind = shape_.decodes ? kind : CacheKind::none,
                     .heads = shape_.heads,
                     .kvHeads = shape_.kvHeads,
                     .headDim = shape_.headDim,
                     .valueDim = shape_.valueDim};
    if (kind == CacheKind::none) return {.kind = kind};
    if (kind == CacheKind::window || kind == CacheKind::chunk) group.span = spanOf(json_, type_);
    if (kind == CacheKind::latent) {
      group.latentDim = shape_.latentDim;
      group.ropeDim = shape_.ropeDim;
      group.indexDim = json_.size("index_head_dim", 0, 0);
    }
    group.parameters = attentionOf(group);
    return group;
  }

  void addLayers(const std::vector<PlannedLayer>& plan) {
    using Inner = PlannedLayer::Inner;
    FeedForward dense{.innerDim = shape_.innerDim, .gated = shape_.gated};
    FeedForward mixed{
        .innerDim = shape_.expertDim,
        .experts = shape_.experts,
        .activeExperts = shape_.activeExperts,
        .sharedDim = sizes_.optional({"shared_expert_intermediate_size",
                                      "moe_shared_expert_intermediate_size", "shared_intermediate_size"},
                                     shape_.expertDim) *
                     std::max<Index>(shape_.sharedExperts, sharesOne() ? 1 : 0),
        .gated = shape_.gated};
    for (const PlannedLayer& layer : plan) {
      dense.layers += layer.inner == Inner::dense;
      mixed.layers += layer.inner == Inner::experts;
      auto at = std::find_if(shape_.groups.begin(), shape_.groups.end(),
                             [&](const LayerGroup& group) { return kindOf(group) == layer.mixer; });
      if (at == shape_.groups.end()) {
        shape_.groups.push_back(groupOf(layer.mixer));
        shape_.groups.back().layers = 0;
        at = shape_.groups.end() - 1;
      }
      ++at->layers;
      shape_.order.push_back(static_cast<std::uint8_t>(at - shape_.groups.begin()));
    }
    if (has("parallel")) {
      shape_.groups.push_back(recurrentLayer(json_, type_, shape_.modelDim));
      shape_.groups.back().layers = shape_.layers;
    }
    for (const FeedForward& each : {dense, mixed})
      if (each.layers > 0) shape_.feedForward.push_back(each);
    shape_.denseLayers = shape_.experts > 0 ? dense.layers : 0;
  }
  bool sharesOne() const {
    return json_.has("shared_expert_intermediate_size") || json_.has("moe_shared_expert_intermediate_size") ||
           json_.has("shared_intermediate_size");
  }
  /// In an encoder every kind is `none`; whether it has windows follows from its span.
  CacheKind kindOf(const LayerGroup& group) const {
    return shape_.decodes ? group.kind : group.span > 0 ? CacheKind::window : CacheKind::full;
  }

  /// Adds the encoder of an encoder–decoder, and the decoder's attention to its output.
  void addEncoder() {
    const Index layers = sizes_.optional(kEncoder.layers, shape_.layers, kMaxLayers);
    LayerGroup cross = shape_.groups.front();
    cross.kind = CacheKind::cross;
    cross.span = sizes_.optional({"max_source_positions"}, 0, kMaxPositions);
    LayerGroup encoder = cross;
    encoder.kind = CacheKind::none;
    encoder.layers = layers;
    encoder.heads = encoder.kvHeads = sizes_.optional(kEncoder.heads, shape_.heads);
    shape_.groups.push_back(cross);
    shape_.groups.push_back(encoder);
    FeedForward inner = shape_.feedForward.front();
    inner.layers = layers;
    inner.innerDim = sizes_.optional(kEncoder.inner, shape_.innerDim);
    inner.encoder = true;
    shape_.feedForward.push_back(inner);
  }

  /// Adds the parameters of positions, norms, biases and whatever else a type has outside its layers.
  void addTables() {
    const Index d = shape_.modelDim;
    std::uint64_t other = saturatingProduct({has("biases") ? 2 : 1, d});  // the last norm
    for (const LayerGroup& group : shape_.groups)
      other = saturatingSum({other, saturatingProduct({group.layers, smallParts(group)})});
    if (has("biases"))
      for (const FeedForward& each : shape_.feedForward)
        other = saturatingSum({other, saturatingProduct({each.layers, each.innerDim + d})});
    if (hasType("gpt_oss"))  // biases of all experts
      other = saturatingSum(
          {other, saturatingProduct({shape_.layers, shape_.experts, 2 * shape_.expertDim + d})});
    if (has("pooler")) other = saturatingSum({other, saturatingProduct({d, d})});
    if (json_.has("vocab_size_per_layer_input")) {  // Gemma 3n: tables for each layer, LAuReL and AltUp
      const Index per = json_.size("hidden_size_per_layer_input"), rank = json_.size("laurel_rank", 64);
      const Index table = json_.size("vocab_size_per_layer_input", {}, 1, kMaxPositions);
      other = saturatingSum({other, saturatingProduct({shape_.layers, table, per}),
                             saturatingProduct({shape_.layers, d, 3 * per + 2 * rank}),
                             saturatingProduct({2 * (json_.size("altup_num_inputs", 4) - 1), d, d})});
    }
    if (hasType("whisper")) {
      const Index bins = json_.size("num_mel_bins", 80);
      other = saturatingSum({other, saturatingProduct({3, d, bins + d})});
    }
    if (json_.has("patch_size") && !shape_.decodes) {
      const Index patch = json_.size("patch_size"),
                  side = json_.size("image_size") / std::max<Index>(1, patch);
      other =
          saturatingSum({other, saturatingProduct({3, patch, patch, d}), saturatingProduct({side, side, d})});
    }
    if (has("positions")) {
      const bool two = hasType("opt") || hasType("bart") || hasType("mbart");
      shape_.positions = shape_.context + (two ? 2 : 0);
      if (hasType("bart") || hasType("mbart")) shape_.positions *= 2;
      if (hasType("whisper")) shape_.positions += json_.size("max_source_positions", 1500, 1, kMaxPositions);
    }
    shape_.otherParameters = other;
    // Types that embed words in fewer dimensions, such as Albert, were refused earlier.
  }

  /// Sets the sizes used in texts and plots: those of the layers that keep all tokens, or else of any
  /// attention layer.
  void headline() {
    for (const LayerGroup& group : shape_.groups)
      if (group.kind == CacheKind::window || (!shape_.decodes && group.span > 0)) shape_.window = group.span;
    if (shape_.window > 0)
      for (const LayerGroup& group : shape_.groups)
        if (group.kind == CacheKind::full) shape_.globalLayers = group.layers;
    const Index ahead = json_.size("num_nextn_predict_layers", 0, 0, kMaxLayers);
    if (ahead > 0 && !shape_.groups.empty() && !shape_.feedForward.empty()) {
      // A layer like the last, a projection of both inputs, and its own tables.
      ModelShape one = shape_;
      one.groups = {shape_.groups.back()};
      one.feedForward = {shape_.feedForward.back()};
      one.groups[0].layers = one.feedForward[0].layers = 1;
      const ShapeParameters layer = parametersOf(one);
      const std::uint64_t each = saturatingSum({layer.attention, layer.feedForward, layer.head, layer.head,
                                                saturatingProduct({2, shape_.modelDim, shape_.modelDim})});
      shape_.mtpParameters =
          saturatingProduct({ahead, static_cast<Index>(std::min<std::uint64_t>(each, kMaxAhead))});
    }
    if (ahead > 0)
      shape_.notes.push_back(fmt::format("{} that {} further tokens {} not counted", countedLayers(ahead),
                                         ahead == 1 ? "predicts" : "predict", ahead == 1 ? "is" : "are"));
    if (json_.has("index_topk"))
      shape_.notes.push_back(
          "sparse attention reads only some of the cached tokens; times count all of them");
  }
  static std::string countedLayers(Index count) {
    return count == 1 ? "a layer" : fmt::format("{} layers", count);
  }

  const ConfigReader& json_;
  const ModelType* type_;
  SizeFinder sizes_;
  ModelShape shape_;
};

/// The key of a multimodal model's text part; "" if its fields are at the top level.
const char* nestedKey(const ConfigReader& root) {
  for (const char* key : {"text_config", "llm_config", "language_config"})
    if (root.isObject(key) && !root.has("num_hidden_layers")) return key;
  return "";
}

}  // namespace

Result<ModelShape> readModelShape(std::string_view text, const std::string& name) {
  const auto root = ConfigReader::parse(text, name);
  if (!root) return root.error();
  const std::string key = nestedKey(*root);
  ConfigReader json = key.empty() ? *root : root->object(key);
  const ModelType* type = findModelType(json.text("model_type", root->text("model_type", "")));
  if (!type) type = findModelType(root->text("model_type", ""));
  type ? json.addDefaults(type->defaults) : refuseForeignLayers(json);
  ShapeReader reader(json, type);
  ModelShape shape = reader.read();
  if (const Status status = root->status(); !status) return status.error();
  if (!reader.sizes().missing().empty())
    return Error{fmt::format("{}: {}it lacks {}", name,
                             type ? "" : architectureOf(key.empty() ? *root : json) + " is not known, and ",
                             reader.sizes().missing())};
  readWeightFormat(*root, json, shape);
  const std::string& assumed = reader.sizes().assumed();
  if (!assumed.empty()) shape.notes.insert(shape.notes.begin(), "the file does not say " + assumed);
  if (!key.empty() && (root->has("vision_config") || root->has("audio_config")))
    shape.notes.push_back("only the text model is counted, without vision and audio");
  if (!type)
    shape.notes.insert(shape.notes.begin(), architectureOf(key.empty() ? *root : json) +
                                                " is not known: counted as an ordinary decoder");
  shape.tied = root->flag("tie_word_embeddings", json.flag("tie_word_embeddings", hasTrait(type, "tied")));
  shape.name = name;
  shape.source = "config.json";
  if (const Status status = root->status(); !status) return status.error();
  if (const Status status = validate(shape); !status) return Error{name + ": " + status.error().message};
  return shape;
}

}  // namespace headscope::attention

#include "attention/models/config/model_shape_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "attention/core/saturating.h"
#include "attention/formats/quote.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/layer_plan.h"
#include "attention/models/config/model_types.h"
#include "attention/models/config/other_parameters.h"
#include "attention/models/config/quantization.h"
#include "attention/models/config/size_finder.h"

namespace headscope::attention {

namespace {

/// The model's type as the file gives it, for messages.
std::string architectureOf(const ConfigReader& json) {
  const std::string type = json.text("model_type", "");
  if (!type.empty()) return "model_type " + quotedText(type);
  const std::string name = classOf(json);
  return name.empty() ? "a model without a model_type" : "the architecture " + quotedText(name);
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
    {"decoder_attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
    {"decoder_ffn_dim", "block_ff_dim", "intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size",
     "hidden_dim"}};
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
    const bool pair = json_.has("decoder_layers") || has("t5");
    addLayers(planLayers(json_, type_, shape_.layers, shape_.experts > 0));
    if (pair) addEncoder();
    shape_.positions = positionRows(json_, type_, shape_);
    shape_.otherParameters = otherParameters(json_, type_, shape_);
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
    const Index listed = json_.has("num_hidden_layers") ? 0 : std::ssize(json_.texts("layers_block_type"));
    shape_.layers =
        listed > 0 ? std::min(listed, kMaxLayers) : sizes_.needed("layers", kDecoder.layers, kMaxLayers);
    shape_.modelDim =
        sizes_.needed("the model's size", {"hidden_size", "n_embd", "d_model", "n_embed", "dim"});
    shape_.decodes = !has("encoder") && !json_.has("image_size");
    shape_.vocabulary = sizes_.optional({"padded_vocab_size", "vocab_size"}, 0, kMaxPositions);
    shape_.embeddingDim = sizes_.optional({"embedding_size", "word_embed_proj_dim"});
    if (shape_.embeddingDim == shape_.modelDim) shape_.embeddingDim = 0;
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
    if (json_.flag("block_auto_adjust_ff_dim", false)) {  // LFM2
      shape_.innerDim = 2 * shape_.innerDim / 3;
      if (json_.has("block_ffn_dim_multiplier")) {
        const double factor = std::min(json_.positive("block_ffn_dim_multiplier"), 1e3);
        const Index step = json_.size("block_multiple_of", 256);
        const auto scaled = static_cast<Index>(factor * static_cast<double>(shape_.innerDim));
        shape_.innerDim = (scaled + step - 1) / step * step;
      }
    }
    // These files give the width of both inner matrices together.
    if (hasType("qwen") || hasType("recurrent_gemma")) shape_.innerDim /= 2;
    shape_.gated = !has("plain") && !hasType("rwkv");
    if (has("t5"))
      shape_.gated =
          json_.text("feed_forward_proj", has("plain") ? "relu" : "gated-gelu").starts_with("gated");
    const bool inside = nested.has("moe_num_experts");
    shape_.experts =
        inside ? nested.size("moe_num_experts")
               : sizes_.optional({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"});
    if (shape_.experts <= 1 || !json_.flag("is_moe", true)) {
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

  /// Adds the encoder of an encoder–decoder, and the decoder's attention to its output. A class such as
  /// BartForCausalLM has the decoder alone, whose attention to an encoder is then never used.
  void addEncoder() {
    const Index layers = sizes_.optional(kEncoder.layers, shape_.layers, kMaxLayers);
    LayerGroup cross = shape_.groups.front();
    cross.kind = CacheKind::cross;
    cross.span = sizes_.optional({"max_source_positions"}, 0, kMaxPositions);
    LayerGroup encoder = cross;
    encoder.kind = CacheKind::none;
    encoder.layers = layers;
    encoder.heads = encoder.kvHeads = sizes_.optional(kEncoder.heads, shape_.heads);
    if (classOf(json_).ends_with("ForCausalLM")) cross.kind = CacheKind::none;
    shape_.groups.push_back(cross);
    if (cross.kind == CacheKind::none) return;
    shape_.groups.push_back(encoder);
    FeedForward inner = shape_.feedForward.front();
    inner.layers = layers;
    inner.innerDim = sizes_.optional(kEncoder.inner, shape_.innerDim);
    inner.encoder = true;
    shape_.feedForward.push_back(inner);
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
    for (const LayerGroup& group : shape_.groups)
      if (group.kind == CacheKind::shared)
        shape_.notes.push_back(
            fmt::format("maps to keys and values in {} with a shared cache are counted: published files hold "
                        "them, but nothing uses them",
                        countedLayers(group.layers)));
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

/// The names of a file's models besides its text model: "vision and audio" for vision_config and
/// audio_config.
std::string otherModels(const ConfigReader& root, std::string_view text) {
  static constexpr std::string_view kParts[] = {"attn_config",         "ffn_config",
                                                "quantization_config", "generation_config",
                                                "compression_config",  "per_layer_config"};
  static constexpr std::string_view kEnd = "_config";
  std::vector<std::string> models;
  for (const std::string& name : root.names())
    if (name.ends_with(kEnd) && name != text && root.isObject(name) &&
        std::ranges::find(kParts, name) == std::end(kParts)) {
      models.push_back(name.substr(0, name.size() - kEnd.size()));
      std::replace(models.back().begin(), models.back().end(), '_', ' ');
    }
  std::string all;
  for (std::size_t i = 0; i < models.size(); ++i)
    all += (i == 0 ? "" : i + 1 == models.size() ? " and " : ", ") + models[i];
  return all;
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
  if (const std::string others = otherModels(*root, key); !others.empty())
    shape.notes.push_back("only the text model is counted, without " + others);
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

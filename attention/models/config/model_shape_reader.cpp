#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/config/shape_parts.h"

namespace headscope::attention {

namespace {

/// Names of the sizes of one stack of layers, an encoder's or a decoder's.
struct StackKeys {
  NameList layers, heads, inner;
};
const StackKeys kDecoder{
    {"num_decoder_layers", "decoder_layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers"},
    {"decoder_attention_heads", "num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"},
    {"decoder_ffn_dim", "block_ff_dim", "intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size",
     "mlp_hidden_size", "d_inner", "hidden_dim"}};
const StackKeys kEncoder{
    {"encoder_layers", "num_layers"}, {"encoder_attention_heads", "num_heads"}, {"encoder_ffn_dim", "d_ff"}};

const NameList kSharedDims{"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                           "shared_intermediate_size", "share_expert_dim"};

/// Turns a config.json into a shape: first its sizes, then its layers by kind.
class ShapeReader {
 public:
  /// `json` is the text model's part of `root`, or all of it.
  ShapeReader(const ConfigReader& root, const ConfigReader& json, const CatalogueType* type)
      : root_(root), json_(json), type_(type), sizes_(json) {}

  ModelShape read() {
    readSizes();
    readFeedForward();
    if (!sizes_.missing().empty()) return shape_;
    const bool pair = (json_.has("decoder_layers") || has("t5")) && !classOf(json_).ends_with("EncoderModel");
    addLayers(json_.has("block_configs") ? planBlocks(json_, shape_.layers, shape_.heads, shape_.modelDim)
                                         : planLayers(json_, type_, shape_.layers, shape_.experts > 0));
    if (pair) addEncoder();
    shape_.positions = positionRows(json_, type_, shape_);
    shape_.otherParameters = otherParameters(json_, type_, shape_);
    headline();
    return shape_;
  }
  const SizeFinder& sizes() const { return sizes_; }

 private:
  bool has(std::string_view trait) const { return hasTrait(type_, trait); }
  bool hasType(std::string_view names) const { return isType(type_, names); }
  bool attends() const { return !hasType("mamba falcon_mamba mamba2 rwkv"); }

  void readSizes() {
    const Index listed = json_.has("num_hidden_layers") ? 0 : std::ssize(json_.texts("layers_block_type"));
    shape_.layers =
        listed > 0 ? std::min(listed, kMaxLayers) : sizes_.needed("layers", kDecoder.layers, kMaxLayers);
    // LongCat-Flash counts pairs of attention and dense part, each pair with one mixture, in num_layers
    // alone.
    if (has("twice") && !json_.has("num_hidden_layers"))
      shape_.layers = std::min(2 * shape_.layers, kMaxLayers);
    shape_.modelDim =
        sizes_.needed("the model's size", {"hidden_size", "n_embd", "d_model", "n_embed", "dim", "emb_dim"});
    shape_.decodes = !has("encoder") && !json_.has("image_size") && !isEncoder(root_, json_) &&
                     !(has("memory") && spanOf(json_, type_) == 0);
    // Llama's params.json leaves the vocabulary to the tokenizer, as -1.
    if (!json_.differs("vocab_size", "-1") && json_.has("vocab_size"))
      shape_.notes.push_back(
          "the file leaves the vocabulary to its tokenizer: embedding and head are not counted");
    else
      shape_.vocabulary = sizes_.optional({"padded_vocab_size", "vocab_size"}, 0, kMaxPositions);
    shape_.embeddingDim = sizes_.optional({"embedding_size", "word_embed_proj_dim", "d_embed"});
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
    shape_.headDim = sizes_.optional({"head_dim", "attention_head_dim", "kv_channels", "d_kv", "d_head"},
                                     std::max<Index>(1, shape_.modelDim / std::max<Index>(shape_.heads, 1)));
    shape_.latentDim = sizes_.optional({"kv_lora_rank"});
    if (shape_.latentDim == 0) {
      shape_.queryLatent = sizes_.optional({"share_q_dim"});  // Step-3
      return;
    }
    json_.expect("attention_method", R"("MLA")");
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
    const std::string mpt = attention.text("attn_type", "");
    if (mpt == "multiquery_attention") return 1;
    const std::vector<Index> each = kvHeadsByLayer(json_, shape_.layers);
    if (!each.empty()) return std::min(*std::ranges::max_element(each), kMaxConfigSize);
    return sizes_.optional({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                            "num_attention_groups", fewer ? "multi_query_group_num" : "num_kv_heads"},
                           shape_.heads);
  }

  void readFeedForward() {
    const ConfigReader nested = json_.object("ffn_config");
    if (json_.has("block_configs")) {  // each layer has its own width
      static_cast<void>(sizes_.optional(kDecoder.inner));
      shape_.gated = !has("plain");
      return;
    }
    const Index usual = std::min(json_.size("expansion_ratio", 4) * shape_.modelDim, kMaxConfigSize);
    if (json_.isList("intermediate_size")) {  // one per layer; all are equal in published files
      const std::vector<Index> each = json_.tokens("intermediate_size");
      shape_.innerDim = each.empty() ? usual : each[0];
      if (std::count(each.begin(), each.end(), shape_.innerDim) != std::ssize(each))
        json_.refuse("intermediate_size", fmt::format("a list of {} that differ", each.size()),
                     "one width for all layers");
    } else if (nested.has("ffn_hidden_size")) {
      shape_.innerDim = nested.size("ffn_hidden_size");
    } else if (has("4d") || hasType("rwkv") || json_.has("moe_intermediate_size") ||
               json_.has("moe_ffn_hidden_size") || json_.has("multiple_of")) {
      shape_.innerDim = sizes_.optional(kDecoder.inner, usual);
      if (shape_.innerDim == 0) shape_.innerDim = usual;
    } else if (attends()) {
      shape_.innerDim = sizes_.assumed("the feed-forward width", kDecoder.inner, usual);
    }
    if (json_.flag("block_auto_adjust_ff_dim", false))  // LFM2
      adjustInnerDim("block_ffn_dim_multiplier", "block_multiple_of");
    else if (json_.has("multiple_of") && json_.has("dim") && !json_.has("hidden_dim"))  // Llama's params.json
      adjustInnerDim("ffn_dim_multiplier", "multiple_of");
    // These files give the width of both inner matrices together.
    if (hasType("qwen recurrent_gemma")) shape_.innerDim /= 2;
    shape_.gated = !has("plain") && !hasType("rwkv");
    if (has("t5"))
      shape_.gated =
          json_.text("feed_forward_proj", has("plain") ? "relu" : "gated-gelu").starts_with("gated");
    const bool inside = nested.has("moe_num_experts");
    const ConfigReader moe = json_.object(json_.isObject("moe") ? "moe" : "");  // Mistral's params.json
    shape_.experts = inside ? nested.size("moe_num_experts")
                            : sizes_.optional({"num_local_experts", "num_experts", "n_routed_experts",
                                               "moe_num_experts", "moe_num_primary_experts"},
                                              moe.size("num_experts", 0, 0));
    if (shape_.experts <= 1 || !json_.flag("is_moe", true)) {
      shape_.experts = 0;
      return;
    }
    shape_.activeExperts = inside ? nested.size("moe_top_k", 1)
                                  : sizes_.optional({"num_experts_per_tok", "num_experts_per_token",
                                                     "experts_per_token", "num_selected_experts", "moe_top_k",
                                                     "moe_k", "moe_topk", "moe_num_active_primary_experts"},
                                                    moe.size("num_experts_per_tok", 1));
    shape_.expertDim = sizes_.optional(
        {"moe_intermediate_size", "expert_dim", "expert_ffn_hidden_size", "moe_ffn_hidden_size"},
        shape_.innerDim);
    shape_.sharedExperts = sizes_.optional(
        {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert"});
    if (json_.has("intermediate_size_mlp")) shape_.innerDim = json_.size("intermediate_size_mlp");
  }

  /// Two thirds of the inner width, times a factor, in steps: as many weights as an MLP without a gate has.
  void adjustInnerDim(const char* factorKey, const char* stepKey) {
    shape_.innerDim = 2 * shape_.innerDim / 3;
    const double factor = std::min(json_.positive(factorKey, 1.0), 1e3);
    const Index step = json_.size(stepKey, 256);
    const auto scaled = static_cast<Index>(factor * static_cast<double>(shape_.innerDim));
    shape_.innerDim = (scaled + step - 1) / step * step;
  }

  std::uint64_t attentionOf(const LayerGroup& group) const {
    ModelShape one = shape_;
    one.heads = group.heads;
    // A layer that reads the cache of another has no maps to keys and values of its own under use_cla.
    one.kvHeads = group.kind == CacheKind::shared && json_.flag("use_cla", false) ? 0 : group.kvHeads;
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

  LayerGroup groupOf(const PlannedLayer& layer) const {
    const CacheKind kind = layer.mixer;
    if (kind == CacheKind::recurrent) return recurrentLayer(json_, type_, shape_.modelDim);
    LayerGroup group{.kind = shape_.decodes ? kind : CacheKind::none,
                     .heads = shape_.heads,
                     .kvHeads = layer.kvHeads > 0 ? layer.kvHeads : shape_.kvHeads,
                     .headDim = shape_.headDim,
                     .valueDim = shape_.valueDim};
    if (kind == CacheKind::none)
      return {.kind = kind,
              .parameters = layer.linear ? saturatingProduct({shape_.modelDim, shape_.modelDim}) : 0};
    if (kind == CacheKind::window || kind == CacheKind::chunk)
      group.span = layer.span > 0 ? layer.span : spanOf(json_, type_);
    if (kind == CacheKind::cross) group.span = pictureTokens(root_);
    if (kind == CacheKind::latent) {
      group.latentDim = shape_.latentDim;
      group.ropeDim = shape_.ropeDim;
      group.indexDim = json_.size("index_head_dim", 0, 0);
    }
    group.parameters = attentionOf(group);
    if (has("memory")) {  // instead of keys and values, what they are computed from
      group.kvHeads = 0;
      group.indexDim = shape_.modelDim;
    }
    return group;
  }

  void addLayers(const std::vector<PlannedLayer>& plan) {
    using Inner = PlannedLayer::Inner;
    std::vector<FeedForward> dense;  // by width
    FeedForward mixed{.innerDim = shape_.expertDim,
                      .experts = shape_.experts,
                      .activeExperts = shape_.activeExperts,
                      .sharedDim = sizes_.optional(kSharedDims, shape_.expertDim) *
                                   std::max<Index>(shape_.sharedExperts, sizes_.has(kSharedDims)),
                      .gated = shape_.gated};
    for (const PlannedLayer& layer : plan) {
      if (layer.inner == Inner::dense) ++denseOf(dense, layer).layers;
      mixed.layers += layer.inner == Inner::experts;
      auto at = std::find_if(shape_.groups.begin(), shape_.groups.end(), [&](const LayerGroup& group) {
        return kindOf(group) == layer.mixer && (layer.kvHeads == 0 || layer.kvHeads == group.kvHeads) &&
               (layer.span == 0 || layer.span == group.span) && layer.linear == isLinear(group);
      });
      if (at == shape_.groups.end()) {
        if (shape_.groups.size() == 255)
          return json_.fail(json_.at("layers") + " are of more than 255 kinds");
        shape_.groups.push_back(groupOf(layer));
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
    if (has("twice")) {
      mixed.layers = shape_.layers / 2;
      denseOf(dense, {}).layers = shape_.layers;
    }
    shape_.feedForward = dense;
    if (mixed.layers > 0) shape_.feedForward.push_back(mixed);
    shape_.denseLayers = shape_.experts > 0 && !dense.empty() ? dense.front().layers : 0;
    addSharedBlocks(json_, type_, shape_);
  }
  /// The dense parts as wide as a layer's.
  FeedForward& denseOf(std::vector<FeedForward>& all, const PlannedLayer& layer) const {
    const Index width = layer.innerDim > 0 ? layer.innerDim : shape_.innerDim;
    const auto at = std::ranges::find(all, width, &FeedForward::innerDim);
    if (at != all.end()) return *at;
    return all.emplace_back(FeedForward{.innerDim = width, .gated = shape_.gated});
  }
  static bool isLinear(const LayerGroup& group) {
    return group.kind == CacheKind::none && group.heads == 0 && group.parameters > 0;
  }

  /// In an encoder every kind is `none`; whether it has windows follows from its span.
  CacheKind kindOf(const LayerGroup& group) const {
    if (shape_.decodes || group.kind != CacheKind::none) return group.kind;
    return group.span > 0 ? CacheKind::window : CacheKind::full;
  }

  /// Adds the encoder of an encoder–decoder, and the decoder's attention to its output. A class such as
  /// BartForCausalLM has the decoder alone, whose attention to an encoder is then never used.
  void addEncoder() {
    const Index layers = sizes_.optional(kEncoder.layers, shape_.layers, kMaxLayers);
    LayerGroup cross = shape_.groups.front();
    cross.kind = shape_.decodes ? CacheKind::cross : CacheKind::none;
    cross.span = sizes_.optional({"max_source_positions"}, 0, kMaxPositions);
    LayerGroup encoder = cross;
    encoder.kind = CacheKind::none;
    encoder.layers = layers;
    encoder.heads = encoder.kvHeads = sizes_.optional(kEncoder.heads, shape_.heads);
    const bool alone = classOf(json_).ends_with("ForCausalLM");
    if (alone) cross.kind = CacheKind::none;
    shape_.groups.push_back(cross);
    if (alone) return;
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
    const auto attends =
        std::ranges::find_if(shape_.groups, [](const LayerGroup& group) { return group.kvHeads > 0; });
    if (attends != shape_.groups.end() && json_.has("block_configs")) shape_.kvHeads = attends->kvHeads;
    for (const LayerGroup& group : shape_.groups)
      if (group.kind == CacheKind::window || (!shape_.decodes && group.span > 0)) shape_.window = group.span;
    if (shape_.window > 0)
      for (const LayerGroup& group : shape_.groups)
        if (group.kind == CacheKind::full) shape_.globalLayers = group.layers;
    addNotes(root_, json_, type_, shape_);
  }

  const ConfigReader &root_, &json_;
  const CatalogueType* type_;
  SizeFinder sizes_;
  ModelShape shape_;
};

}  // namespace

Result<ModelShape> readModelShape(std::string_view text, const std::string& name) {
  const auto root = ConfigReader::parse(text, name);
  if (!root) return root.error();
  TextModel part = textPart(*root);
  ConfigReader& json = part.json;
  const CatalogueType* type = findModelType(json.text("model_type", root->text("model_type", "")));
  if (!type) type = findModelType(root->text("model_type", ""));
  if (!json.has("model_type") && json.has("dim") && json.has("n_layers"))
    type = findModelType("llama");  // params.json
  type ? json.addDefaults(type->defaults) : refuseForeignLayers(json);
  const bool whole = json.has("hidden_size") && json.has("num_hidden_layers");
  if (part.nested && type) json.addDefaults(type->sizes);
  ShapeReader reader(*root, json, type);
  ModelShape shape = reader.read();
  if (const Status status = root->status(); !status) return status.error();
  const std::string named = architectureOf(part.nested ? json : *root);
  if (!reader.sizes().missing().empty())
    return Error{fmt::format("{}: {}it lacks {}", name, type ? "" : named + " is not known, and ",
                             reader.sizes().missing())};
  readWeightFormat(*root, json, shape);
  std::vector<std::string> first;
  if (!type)
    first.push_back(fmt::format("{} is not known: counted as an ordinary {}", named,
                                shape.decodes ? "decoder" : "encoder"));
  if (const std::string& assumed = reader.sizes().assumed(); !assumed.empty())
    first.push_back("the file does not say " + assumed);
  if (part.nested && type && !whole && json.has("hidden_size"))
    first.push_back(
        fmt::format("sizes that the file leaves out are the defaults of {} in transformers", type->name));
  if (const std::string unread = unreadOfAttention(json); !unread.empty())
    first.push_back("not read, and may change these figures: " + unread);
  shape.notes.insert(shape.notes.begin(), first.begin(), first.end());
  if (!part.others.empty()) shape.notes.push_back("only the text model is counted, without " + part.others);
  shape.tied = root->flag("tie_word_embeddings", json.flag("tie_word_embeddings", hasTrait(type, "tied")));
  shape.name = name;
  shape.source = name;
  if (const Status status = root->status(); !status) return status.error();
  if (const Status status = validate(shape); !status) return Error{name + ": " + status.error().message};
  return shape;
}

}  // namespace headscope::attention

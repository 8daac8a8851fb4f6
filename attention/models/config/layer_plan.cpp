#include <fmt/core.h>

#include <cstdlib>

#include "attention/formats/quote.h"
#include "attention/models/config/shape_parts.h"

namespace headscope::attention {

namespace {

using Kinds = std::vector<CacheKind>;

/// The kind of a layer with that name in a file; nothing if it isn't known.
std::optional<CacheKind> kindNamed(std::string_view name, CacheKind attention) {
  static constexpr std::pair<std::string_view, CacheKind> kNames[] = {
      {"sliding_attention", CacheKind::window},
      {"local", CacheKind::window},
      {"chunked_attention", CacheKind::chunk},
      {"linear_attention", CacheKind::recurrent},
      {"mamba", CacheKind::recurrent},
      {"recurrent", CacheKind::recurrent},
      {"conv", CacheKind::recurrent}};
  if (name == "full_attention" || name == "attention" || name == "global") return attention;
  if (name == "deepseek_sparse_attention" && attention == CacheKind::latent) return attention;
  for (const auto& [each, kind] : kNames)
    if (each == name) return kind;
  return std::nullopt;
}

/// Kinds from a list of names. If `repeats`, a list shorter than the layers is repeated.
Kinds listedKinds(const ConfigReader& json, const char* key, Index layers, CacheKind attention,
                  bool repeats) {
  const std::vector<std::string> names = json.texts(key);
  const auto count = static_cast<Index>(names.size());
  if (count == 0 || (!repeats && count != layers)) {
    json.refuse(key, fmt::format("a list of {}", count),
                fmt::format("a name for each of the {} layers", layers));
    return {};
  }
  Kinds kinds;
  for (Index i = 0; i < layers; ++i) {
    const std::string& name = names[asSize(i % count)];
    const auto kind = kindNamed(name, attention);
    if (!kind)
      json.refuse(
          key, quotedText(name),
          "full_attention, sliding_attention, chunked_attention, linear_attention, mamba, conv, recurrent or "
          "attention");
    kinds.push_back(kind.value_or(attention));
  }
  return kinds;
}

/// `attention` for layers that `attends` accepts, `other` for the rest.
template <class Attends>
Kinds chosenKinds(Index layers, CacheKind attention, CacheKind other, Attends attends) {
  Kinds kinds;
  for (Index i = 0; i < layers; ++i) kinds.push_back(attends(i) ? attention : other);
  return kinds;
}

bool isIn(const std::vector<Index>& list, Index value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// 0 or 1 for each layer; an empty list if the file has another number of them.
std::vector<Index> switches(const ConfigReader& json, const char* key, Index layers) {
  std::vector<Index> list = json.tokens(key);
  if (std::ssize(list) == layers) return list;
  json.refuse(key, fmt::format("a list of {}", list.size()),
              fmt::format("0 or 1 for each of the {} layers", layers));
  return {};
}

/// The kinds of a hybrid's layers, by its rule; empty if the file has none.
Kinds hybridKinds(const ConfigReader& json, Index layers, CacheKind attention) {
  constexpr CacheKind recurrent = CacheKind::recurrent;
  if (json.has("attn_layer_period")) {
    const Index period = json.size("attn_layer_period"), offset = json.size("attn_layer_offset", 0, 0);
    return chosenKinds(layers, attention, recurrent, [=](Index i) { return i % period == offset; });
  }
  for (const char* key : {"attn_layer_indices", "full_attn_idxs"}) {
    if (!json.has(key)) continue;
    const std::vector<Index> attends = json.tokens(key);
    return chosenKinds(layers, attention, recurrent, [&](Index i) { return isIn(attends, i); });
  }
  if (json.has("full_attention_interval")) {
    const Index interval = json.size("full_attention_interval");
    return chosenKinds(layers, attention, recurrent, [=](Index i) { return (i + 1) % interval == 0; });
  }
  if (json.has("attn_type_list")) {
    const std::vector<Index> types = switches(json, "attn_type_list", layers);
    if (types.empty()) return {};
    return chosenKinds(layers, attention, recurrent, [&](Index i) { return types[asSize(i)] == 1; });
  }
  if (json.isNull("attn_layer_indices"))  // no layer attends
    return Kinds(asSize(layers), recurrent);
  return {};
}

/// Fields that give the kinds of layers. A file may have several, which then say the same; one is read.
constexpr std::string_view kLayerFields =
    "layer_types attention_layers layers_block_type block_types _block_types "
    "hybrid_override_pattern attn_layer_period attn_layer_offset attn_layer_indices "
    "full_attn_idxs full_attention_interval attn_type_list sliding_window_layout "
    "sliding_window_pattern _sliding_window_pattern layer_switch max_window_layers sliding_window "
    "global_attn_every_n_layers hybrid_layer_ids";

/// Layers with windows or chunks, among those that keep all tokens.
Kinds spanKinds(const ConfigReader& json, const CatalogueType* type, Index layers, CacheKind attention) {
  if (json.has("sliding_window_layout")) {
    const std::vector<Index> slides = switches(json, "sliding_window_layout", layers);
    if (slides.empty()) return {};
    return chosenKinds(layers, attention, CacheKind::window, [&](Index i) { return slides[asSize(i)] == 0; });
  }
  if (json.has("global_attn_every_n_layers")) {
    const Index every = json.size("global_attn_every_n_layers");
    return chosenKinds(layers, attention, CacheKind::window, [=](Index i) { return i % every == 0; });
  }
  if (json.has("attention_chunk_size")) {
    const std::vector<Index> rotary = json.tokens("no_rope_layers");
    const Index interval = json.size("no_rope_layer_interval", 4);
    return chosenKinds(layers, attention, CacheKind::chunk, [&](Index i) {
      return i < std::ssize(rotary) ? rotary[asSize(i)] == 0 : (i + 1) % interval == 0;
    });
  }
  if (isType(type, "gpt_neo"))
    return chosenKinds(layers, attention, CacheKind::window, [](Index i) { return i % 2 == 0; });
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern", "layer_switch"}) {
    if (!json.has(key)) continue;
    if (json.isText(key)) {  // "LLLG"
      const std::string letters = json.text(key, "");
      if (letters.find_first_not_of("LG") != std::string::npos || letters.empty()) {
        json.refuse(key, quotedText(letters), "a number, or letters L and G");
        return {};
      }
      return chosenKinds(layers, attention, CacheKind::window,
                         [&](Index i) { return letters[asSize(i) % letters.size()] == 'G'; });
    }
    const Index pattern = json.size(key);
    return chosenKinds(layers, attention, CacheKind::window, [=](Index i) { return (i + 1) % pattern == 0; });
  }
  const Index full = json.has("use_sliding_window") ? json.size("max_window_layers", 0, 0, kMaxLayers) : 0;
  return chosenKinds(layers, attention, CacheKind::window, [=](Index i) { return i < full; });
}

/// Nemotron-H lists its layers one after another: M is a Mamba-2 layer, * attention, - a feed-forward layer,
/// E experts. Files by transformers 5 name them instead.
std::string patternOf(const ConfigReader& json) {
  std::string pattern = json.text("hybrid_override_pattern", "");
  if (json.has("hybrid_override_pattern")) return pattern;
  for (const std::string& name : json.texts("layers_block_type")) {
    const auto kind = kindNamed(name, CacheKind::full);
    const char letter = name == "mlp"                  ? '-'
                        : name == "moe"                ? 'E'
                        : kind == CacheKind::recurrent ? 'M'
                        : kind == CacheKind::full      ? '*'
                                                       : '?';
    if (letter == '?')
      json.refuse("layers_block_type", quotedText(name), "linear_attention, full_attention, mlp or moe");
    pattern += letter;
  }
  return pattern;
}

std::vector<PlannedLayer> patternLayers(const ConfigReader& json, Index layers) {
  using Inner = PlannedLayer::Inner;
  const std::string pattern = patternOf(json);
  std::vector<PlannedLayer> plan;
  for (const char letter : pattern) {
    if (letter == 'M') plan.push_back({CacheKind::recurrent, Inner::none});
    if (letter == '*') plan.push_back({CacheKind::full, Inner::none});
    if (letter == '-') plan.push_back({CacheKind::none, Inner::dense});
    if (letter == 'E') plan.push_back({CacheKind::none, Inner::experts});
  }
  if (std::ssize(plan) != layers || plan.size() != pattern.size())
    json.refuse("hybrid_override_pattern", quotedText(pattern),
                fmt::format("one of M, *, - and E for each of the {} layers", layers));
  return plan;
}

/// Layers by their numbers: a list, or a text such as "4,5,6".
std::vector<Index> listedMixtures(const ConfigReader& json) {
  if (json.isList("moe_layers")) return json.tokens("moe_layers");
  std::vector<Index> numbers;
  const std::vector<Index> layout = json.tokens("moe_layer_layout");
  for (Index i = 0; i < std::ssize(layout); ++i)
    if (layout[asSize(i)] == 1) numbers.push_back(i);
  std::string text = json.text("moe_layers_enum", "");
  for (std::size_t at = 0; at < text.size(); at = text.find_first_not_of("0123456789", at)) {
    at = text.find_first_of("0123456789", at);
    if (at == text.npos) break;
    numbers.push_back(std::min<Index>(std::atoi(text.c_str() + at), kMaxLayers));
  }
  return numbers;
}

/// Whether each layer has experts, by the rules of models with both kinds of layers.
std::vector<bool> expertLayers(const ConfigReader& json, Index layers) {
  const std::vector<std::string> names = json.texts("mlp_layer_types");  // "dense" or "sparse"
  const std::vector<Index> dense = json.tokens("mlp_only_layers"), mixed = listedMixtures(json);
  const Index first = json.size(json.has("moe_layer_start_index") ? "moe_layer_start_index"
                                : json.has("num_dense_layers")    ? "num_dense_layers"
                                                                  : "first_k_dense_replace",
                                0, 0),
              last = json.size("moe_layer_end_index", kMaxLayers, 0),
              step = json.size("decoder_sparse_step",
                               json.size("interleave_moe_layer_step", json.size("moe_layer_interval", 1))),
              period = json.size("expert_layer_period", 1), offset = json.size("expert_layer_offset", 0, 0),
              frequency = json.isList("moe_layer_freq") ? 1 : json.size("moe_layer_freq", 1);
  std::vector<bool> all;
  for (Index i = 0; i < layers; ++i)
    all.push_back(i < std::ssize(names) ? names[asSize(i)] != "dense"
                  : !mixed.empty()      ? isIn(mixed, i)
                                        : !isIn(dense, i) && i >= first && i <= last && (i + 1) % step == 0 &&
                                         i % frequency == 0 && i % period == offset % period);
  return all;
}

/// Longformer's window, with as many tokens on each side and the token itself. Layers may have windows of
/// their own, of which the widest counts.
Index longformerSpan(const ConfigReader& json) {
  const std::vector<Index> windows = json.tokens("attention_window");
  return windows.empty() ? 0 : *std::ranges::max_element(windows) + 1;
}

/// Hunyuan-Large's cross-layer attention (Brandon et al. 2024): some layers read the cache of the one before.
Index sharingLayers(const ConfigReader& json) {
  const Index factor = json.size("cla_share_factor", 1);
  return json.flag("use_cla", false) ? factor : 1;
}

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

Index spanOf(const ConfigReader& json, const CatalogueType* type) {
  if (json.has("attention_chunk_size")) return json.size("attention_chunk_size", {}, 1, kMaxPositions);
  const bool asked = type && type->name.starts_with("qwen");
  if (!json.flag("use_sliding_window", !asked)) return 0;
  if (json.has("local_attention"))
    return json.size("local_attention", {}, 1, kMaxPositions) + 1;  // ModernBERT
  if (isType(type, "longformer")) return longformerSpan(json);
  if (json.has("mem_len")) return json.size("mem_len", {}, 0, kMaxPositions);  // Transformer-XL
  for (const char* key : {"sliding_window", "sliding_window_size", "attention_window_size", "window_size"}) {
    if (!json.has(key)) continue;
    const Index span = json.size(key, {}, 0, kMaxPositions);
    // A window that no text of the model can fill has no effect.
    return span >= json.size("max_position_embeddings", kMaxPositions, 1, kMaxPositions) ? 0 : span;
  }
  return 0;
}

std::vector<PlannedLayer> planLayers(const ConfigReader& json, const CatalogueType* type, Index layers,
                                     bool experts) {
  if (json.has("hybrid_override_pattern") || isType(type, "nemotron_h")) return patternLayers(json, layers);
  const CacheKind attention = json.has("kv_lora_rank") ? CacheKind::latent : CacheKind::full;
  const Index span = spanOf(json, type);
  Kinds kinds;
  if (isType(type, "mamba falcon_mamba mamba2 rwkv zamba2"))
    kinds.assign(asSize(layers), CacheKind::recurrent);
  else if (json.has("layer_types"))
    kinds = listedKinds(json, "layer_types", layers, attention, false);
  else if (json.has("attention_layers"))
    kinds = listedKinds(json, "attention_layers", layers, attention, false);
  else if (json.has("layers_block_type"))
    kinds = listedKinds(json, "layers_block_type", layers, attention, false);
  else if (json.has("block_types") || json.has("_block_types"))
    kinds = listedKinds(json, json.has("block_types") ? "block_types" : "_block_types", layers,
                        span > 0 ? CacheKind::window : attention, true);
  else
    kinds = hybridKinds(json, layers, attention);
  if (kinds.empty() && span > 0) kinds = spanKinds(json, type, layers, attention);
  kinds.resize(asSize(layers), attention);
  if (span == 0)
    for (CacheKind& kind : kinds)
      if (kind == CacheKind::window || kind == CacheKind::chunk) kind = attention;
  forEachField(kLayerFields, [&](std::string_view field, std::string_view) { json.has(field); });
  const Index sharing = sharingLayers(json);
  for (Index i = 0; i < layers; ++i)
    if (i % sharing != 0) kinds[asSize(i)] = CacheKind::shared;
  for (const Index i : json.tokens("cross_attention_layers"))  // Llama 3.2 Vision: they attend to a picture
    if (i < layers) kinds[asSize(i)] = CacheKind::cross;
  const Index shared = json.size("num_kv_shared_layers", 0, 0, kMaxLayers);
  for (Index i = std::max<Index>(0, layers - shared); i < layers; ++i) kinds[asSize(i)] = CacheKind::shared;
  std::vector<PlannedLayer> plan;
  const std::vector<bool> hasExperts = expertLayers(json, layers);
  const bool alone = isType(type, "mamba falcon_mamba mamba2 zamba2");
  const std::vector<Index> kvHeads = kvHeadsByLayer(json, layers);
  for (Index i = 0; i < layers; ++i)
    plan.push_back({.mixer = kinds[asSize(i)],
                    .inner = alone                              ? PlannedLayer::Inner::none
                             : experts && hasExperts[asSize(i)] ? PlannedLayer::Inner::experts
                                                                : PlannedLayer::Inner::dense,
                    .kvHeads = kvHeads.empty() ? 0 : kvHeads[asSize(i)]});
  return plan;
}

std::vector<Index> kvHeadsByLayer(const ConfigReader& json, Index layers) {
  for (const char* key : {"num_key_value_heads_per_layer", "num_key_value_heads", "num_kv_heads"}) {
    if (!json.isList(key)) continue;
    const std::vector<Index> list = json.tokens(key);
    if (std::ssize(list) != layers || *std::ranges::min_element(list) < 1)
      json.refuse(key, fmt::format("a list of {}", list.size()),
                  fmt::format("a number above 0 for each of the {} layers", layers));
    else
      return list;
  }
  return {};
}

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

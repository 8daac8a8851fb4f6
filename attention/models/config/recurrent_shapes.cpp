#include "attention/formats/quote.h"
#include "attention/models/config/shape_parts.h"

// What a layer without attention keeps, and how many parameters it has.

namespace headscope::attention {
namespace {

using KeyNames = std::initializer_list<const char*>;

/// Every key counts as read: a file that has several says the same with each.
Index sizeBy(const ConfigReader& json, KeyNames keys, std::optional<Index> standard = {}) {
  const char* found = *keys.begin();
  for (const char* key : keys)
    if (!json.has(found) && json.has(key)) found = key;
  return json.size(found, standard);
}

/// Numbers in a layer's state and in its matrices.
struct Recurrent {
  Index state;
  std::uint64_t parameters;
};

std::uint64_t sumOf(std::initializer_list<std::initializer_list<Index>> products) {
  std::uint64_t sum = 0;
  for (const auto& product : products) sum = saturatingSum({sum, saturatingProduct(product)});
  return sum;
}

/// Gu and Dao 2023, Mamba, section 3.4: inner · (state + kernel) numbers.
Recurrent mamba(const ConfigReader& json, Index d) {
  const Index inner = json.has("mamba_expand") ? json.size("mamba_expand") * d
                                               : json.size("intermediate_size", json.size("expand", 2) * d);
  const Index n = sizeBy(json, {"mamba_d_state", "state_size"}),
              k = sizeBy(json, {"mamba_d_conv", "conv_kernel"});
  const char* rankKey = json.has("mamba_dt_rank") ? "mamba_dt_rank" : "time_step_rank";
  const Index usual = (d + 15) / 16, rank = json.isText(rankKey) ? usual : json.size(rankKey, usual);
  return {inner * (n + k), sumOf({{d, 2 * inner},
                                  {inner, k + 1},
                                  {inner, rank + 2 * n},
                                  {rank + 1, inner},
                                  {inner, n + 1},
                                  {inner, d}})};
}

/// Dao and Gu 2024, Mamba-2, section 7: heads · headDim · state, plus the convolution's inputs.
Recurrent mamba2(const ConfigReader& json, Index d) {
  const Index heads = sizeBy(json, {"mamba_n_heads", "mamba_num_heads", "n_mamba_heads", "num_heads"});
  const Index expanded = d * sizeBy(json, {"mamba_expand", "expand"}, 2);
  const bool automatic = json.isText("mamba_d_head");
  const Index usual = std::max<Index>(1, sizeBy(json, {"mamba_d_ssm"}, expanded) / heads);
  const Index headDim =
      automatic ? usual
                : sizeBy(json, {"mamba_d_head", "mamba_head_dim", "mamba_headdim", "head_dim"}, usual);
  const Index n = sizeBy(json, {"mamba_d_state", "ssm_state_size", "state_size"});
  const Index groups = sizeBy(json, {"mamba_n_groups", "mamba_ngroups", "n_groups"}, 1);
  const Index k = sizeBy(json, {"mamba_d_conv", "conv_kernel"});
  const Index inner = heads * headDim, mixed = inner + 2 * groups * n;
  return {inner * n + mixed * k,
          sumOf({{d, inner + mixed + heads}, {mixed, k + 1}, {3, heads}, {inner}, {inner, d}})};
}

/// Yang et al. 2024, Gated Delta Networks, as in Qwen3-Next: value heads · key dim · value dim, plus the
/// convolution's inputs.
Recurrent gatedDelta(const ConfigReader& json, Index d) {
  const Index keyHeads = json.size("linear_num_key_heads"), valueHeads = json.size("linear_num_value_heads");
  const Index keyDim = json.size("linear_key_head_dim"), valueDim = json.size("linear_value_head_dim");
  const Index keys = keyHeads * keyDim, values = valueHeads * valueDim,
              k = json.size("linear_conv_kernel_dim", 4);
  return {valueHeads * keyDim * valueDim + (2 * keys + values) * k,
          sumOf({{d, 2 * keys + 2 * values + 2 * valueHeads},
                 {2 * keys + values, k},
                 {2, valueHeads},
                 {values, d}})};
}

/// De et al. 2024, Griffin, section 2.4: one number per channel of lru_width, plus the convolution's inputs.
Recurrent linearRecurrent(const ConfigReader& json, Index d) {
  const Index width = json.size("lru_width", d), k = json.size("conv1d_width", 4);
  const Index heads = json.size("num_attention_heads");
  const Index block = std::max<Index>(1, width / heads);
  return {width * k,
          sumOf({{2, d, width}, {width, d}, {width, k + 1}, {2, heads, block, block}, {5, width}})};
}

/// Qin et al. 2024, Lightning Attention, as in MiniMax-01: one matrix per head.
Recurrent lightning(const ConfigReader& json, Index d) {
  const Index heads = json.size("num_attention_heads");
  const Index dim = json.size("head_dim", std::max<Index>(1, d / heads));
  return {heads * dim * dim, sumOf({{d, 5, heads, dim}})};
}

/// A gated short convolution, as in LFM2.
Recurrent shortConvolution(const ConfigReader& json, Index d) {
  const Index k = json.size("conv_L_cache", 3);
  return {d * k, sumOf({{d, 3, d}, {d, k}, {d, d}})};
}

/// Peng et al. 2023, RWKV, section 3: 5 numbers per channel of modelDim. Channel mixing has a d × d gate
/// besides the two matrices that count as the feed-forward part.
Recurrent rwkv(const ConfigReader& json, Index d) {
  const Index width = json.size("attention_hidden_size", d);
  return {5 * d, sumOf({{3, d, width}, {width, d}, {d, d}})};
}

}  // namespace

LayerGroup recurrentLayer(const ConfigReader& json, const CatalogueType* type, Index modelDim) {
  static constexpr std::pair<std::string_view, Recurrent (*)(const ConfigReader&, Index)> kKinds[] = {
      {"mamba", mamba},
      {"falcon_mamba", mamba},
      {"jamba", mamba},
      {"mamba2", mamba2},
      {"bamba", mamba2},
      {"falcon_h1", mamba2},
      {"granitemoehybrid", mamba2},
      {"nemotron_h", mamba2},
      {"zamba2", mamba2},
      {"qwen3_next", gatedDelta},
      {"qwen3_5_text", gatedDelta},
      {"qwen3_5_moe_text", gatedDelta},
      {"recurrent_gemma", linearRecurrent},
      {"minimax", lightning},
      {"minimax_text_01", lightning},
      {"lfm2", shortConvolution},
      {"rwkv", rwkv}};
  LayerGroup group{.kind = CacheKind::recurrent, .layers = 1};
  for (const auto& [name, read] : kKinds) {
    if (!type || type->name != name) continue;
    const Recurrent found = read(json, modelDim);
    group.state = found.state;
    group.parameters = found.parameters;
    group.state32 = json.text("mamba_ssm_dtype", "") == "float32" || name == "rwkv";
    return group;
  }
  json.fail(json.at("layer_types") + " has recurrent layers, whose state in model_type " +
            quotedText(json.text("model_type", "")) + " is not known");
  return group;
}

}  // namespace headscope::attention

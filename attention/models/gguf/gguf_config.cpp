#include <fmt/core.h>

#include <cmath>

#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

/// Writes the config.json for one source.
class GgufConfigWriter {
 public:
  explicit GgufConfigWriter(const GgufSource& source) : source_(source), metadata_(source) {}

  Result<std::string> write() {
    const bool mixture = metadata_.integer("expert_count").value_or(0) > 0;
    const GgufFamily* const family = ggufFamily(metadata_.architecture(), mixture);
    if (!family && metadata_.status()) {
      std::string known;
      for (const GgufFamily& each : ggufFamilies())
        if (known.find(each.architecture) == known.npos)
          known += (known.empty() ? "" : ", ") + std::string(each.architecture);
      metadata_.fail("\"general.architecture\" is " + quotedText(metadata_.architecture()) +
                     ", expected one of " + known);
    }
    if (family) fill(*family);
    if (const Status status = metadata_.status(); !status) return status.error();
    return json_.dump();
  }

 private:
  void fill(const GgufFamily& family) {
    json_["model_type"] = family.model;
    refuseUnsupported(family, metadata_);
    for (const std::string_view fields : {family.sizes, family.more, family.experts})
      forEachField(fields, [&](std::string_view field, std::string_view key) {
        take(std::string(field), std::string(key.substr(0, key.find('?'))), key.ends_with('?'));
      });
    if (!family.experts.empty()) readMixture(family);
    const auto heads = sizeOf("attention.head_count"), width = sizeOf("embedding_length");
    if (heads < 1 || width < 1)
      return metadata_.fail(fmt::format("has {} heads and width {}, expected both above 0", heads, width));
    headDim_ = metadata_.integer("attention.key_length").value_or(width / heads);
    if (json_.contains("hidden_act")) json_.erase("hidden_act");
    if (family.sizes.find("num_key_value_heads") != family.sizes.npos) {
      if (!json_.contains("num_key_value_heads")) json_["num_key_value_heads"] = heads;
      json_["head_dim"] = headDim_;
    }
    if (family.model == "deepseek_v2") readDeepSeek();
    if (family.hybrid) json_.update(Json::parse(ggufHybrid(source_, metadata_, family.model)));
    readTables();
    if (family.rotates) readRotation(family);
    readGemma(family);
    readOthers(family.model);
    readWindows();
    readEnds();
  }

  std::int64_t sizeOf(const std::string& key) {
    constexpr std::int64_t kMax = std::int64_t{1} << 31;
    const std::int64_t size = whole(key).value_or(0);
    if (size < 0 || size > kMax)
      metadata_.fail(fmt::format("{} is {}, expected 0 to {}", metadata_.at(key), size, kMax));
    return size;
  }

  /// Reads a whole number, or a list that repeats it for every layer.
  std::optional<std::int64_t> whole(const std::string& key) {
    const GgufValue* const value = metadata_.find(key);
    if (!value || value->kind != GgufValue::Kind::list) return metadata_.integer(key);
    const auto all = metadata_.integers(key);
    if (!all || all->empty()) return std::nullopt;
    if (std::adjacent_find(all->begin(), all->end(), std::not_equal_to<>()) != all->end())
      metadata_.fail(metadata_.at(key) + " differs from layer to layer, expected the same for all");
    return all->front();
  }

  void take(const std::string& field, const std::string& key, bool optional) {
    const GgufValue* const value = metadata_.find(key);
    if (!value) {
      if (!optional) metadata_.fail("lacks the metadata " + metadata_.at(key));
      return;
    }
    using Kind = GgufValue::Kind;
    if (const auto flag = value->flag())
      json_[field] = *flag;
    else if (value->kind == Kind::f32 || value->kind == Kind::f64)
      json_[field] = metadata_.number(key).value_or(0);
    else
      json_[field] = whole(key).value_or(0);
  }

  /// Reads sizes that only the tables' shapes give.
  void readTables() {
    const auto rows = [&](const char* name) -> std::optional<std::uint64_t> {
      const auto table = source_.tensors.find(name);
      if (table == source_.tensors.end() || table->second.shape.size() != 2) return std::nullopt;
      return table->second.shape[0];
    };
    const auto vocabulary = rows("token_embd.weight");
    if (!vocabulary) return metadata_.fail("has no tensor \"token_embd.weight\" of two dimensions");
    json_["vocab_size"] = *vocabulary;
    json_["tie_word_embeddings"] = !source_.tensors.contains("output.weight");
    if (json_["model_type"] != "bert") return;
    json_["type_vocab_size"] = rows("token_types.weight").value_or(1);
    json_["max_position_embeddings"] = rows("position_embd.weight").value_or(1);
  }

  void readRotation(const GgufFamily& family) {
    const bool neox = json_["model_type"] == "gpt_neox";
    const bool third = json_["model_type"] == "gemma3_text";
    if (third && !json_.contains("rope_theta")) {
      // Ollama's own converter names it so, or leaves it out.
      json_["rope_theta"] = metadata_.number("rope.global.freq_base").value_or(1e6);
    }
    if (!neox && !json_.contains("rope_theta")) json_["rope_theta"] = 10000;
    const auto dims = metadata_.integer("rope.dimension_count").value_or(headDim_);
    // Slightly more than the share, because share · headDim is truncated to a whole number.
    const double share = std::min(1.0, (static_cast<double>(dims) + 0.25) / static_cast<double>(headDim_));
    if (dims != headDim_ && family.paired)
      metadata_.fail(fmt::format("{} is {}, expected {}, the size of a head",
                                 metadata_.at("rope.dimension_count"), dims, headDim_));
    constexpr std::string_view kTurnPart[] = {"phi", "stablelm", "glm",
                                              "glm4"};  // unless config.json says all
    const bool turnsPart = std::ranges::find(kTurnPart, family.model) != std::end(kTurnPart);
    if (neox || turnsPart || dims != headDim_) json_[neox ? "rotary_pct" : "partial_rotary_factor"] = share;
    readScaling();
  }

  /// Adds fields that files leave to their reader.
  void readMixture(const GgufFamily& family) {
    if (family.model == "qwen3_moe") json_["norm_topk_prob"] = true;
    if (!family.model.starts_with("qwen") || family.model == "qwen3_5_moe_text") return;
    const std::int64_t layers = std::min<std::int64_t>(sizeOf("block_count"), kMaxLayers);
    for (std::int64_t i = 0; i < layers; ++i)
      if (!source_.tensors.contains(fmt::format("blk.{}.ffn_gate_inp.weight", i)))
        json_["mlp_only_layers"].push_back(i);
  }

  /// DeepSeek V2 and V3 share one architecture and differ in how experts are chosen. Newer files have
  /// separate names for the sizes of keys and values, because the usual ones hold the sizes of what is
  /// cached.
  void readDeepSeek() {
    const bool newer = metadata_.has("attention.key_length_mla");
    headDim_ = sizeOf("rope.dimension_count");
    json_["qk_nope_head_dim"] =
        sizeOf(newer ? "attention.key_length_mla" : "attention.key_length") - headDim_;
    json_["v_head_dim"] = sizeOf(newer ? "attention.value_length_mla" : "attention.value_length");
    if (!json_.contains("q_lora_rank")) json_["q_lora_rank"] = nullptr;
    const std::int64_t gate = metadata_.integer("expert_gating_func").value_or(1);
    if (gate < 0 || gate > 2)
      metadata_.fail(fmt::format("{} is {}, expected 1 (softmax) or 2 (sigmoid)",
                                 metadata_.at("expert_gating_func"), gate));
    const bool third = gate == 2;
    if (third) json_["model_type"] = "deepseek_v3";
    // The layers after these predict further tokens.
    json_["num_hidden_layers"] = sizeOf("block_count") - sizeOf("nextn_predict_layers");
    // Missing metadata means "off", except for expert groups, which older files omit: these are set as
    // published.
    json_["norm_topk_prob"] = metadata_.flag("expert_weights_norm").value_or(false);
    if (!json_.contains("routed_scaling_factor")) json_["routed_scaling_factor"] = 1;
    const bool known = sizeOf("expert_group_count") > 0 && json_.contains("topk_group");
    const bool grouped = sizeOf("expert_count") == (third ? 256 : 160);
    if (!known) json_["n_group"] = grouped ? 8 : 1;
    if (!known) json_["topk_group"] = grouped ? (third ? 4 : 3) : 1;
    if (!third) json_["topk_method"] = json_["n_group"] == 1 ? "greedy" : "group_limited_greedy";
  }

  std::optional<std::vector<float>> factors(const char* name) {
    const auto found = source_.tensors.find(name);
    if (found == source_.tensors.end()) return std::nullopt;
    const TensorView& tensor = found->second;
    constexpr std::uint64_t kMax = 1 << 16;
    if (tensor.type != WeightType::f32 || tensor.numbers() > kMax) {
      metadata_.fail(
          fmt::format("tensor {} is {}, expected a few numbers of F32", quotedText(name), tensor.kind));
      return std::nullopt;
    }
    std::vector<float> values(tensor.numbers());
    if (const Status status = tensor.read(0, values, name); !status) metadata_.fail(status.error().message);
    return values;
  }

  /// `factor`: by which the context was stretched.
  Json yarn(double factor) {
    Json scaling{{"rope_type", "yarn"}, {"factor", factor}};
    if (const auto original = metadata_.integer("rope.scaling.original_context_length");
        original && *original > 0) {
      // Only the factor counts: context_length may be the one before or the one after the stretch.
      const double most = std::clamp(std::round(factor * static_cast<double>(*original)), 1.0, 1e9);
      json_["max_position_embeddings"] = static_cast<std::int64_t>(most);
      scaling["original_max_position_embeddings"] = *original;
      scaling["factor"] = most / static_cast<double>(*original);
    }
    if (const auto fast = metadata_.number("rope.scaling.yarn_beta_fast")) scaling["beta_fast"] = *fast;
    if (const auto slow = metadata_.number("rope.scaling.yarn_beta_slow")) scaling["beta_slow"] = *slow;
    // DeepSeek's files have a tenth of mscale_all_dim, which sharpens scores, and not mscale, the rotation's
    // own factor; in all published models the two are equal. Other files have mscale_all_dim, for mscale 1.
    if (const auto sharper = metadata_.number("rope.scaling.yarn_log_multiplier"); sharper && *sharper > 0) {
      const bool latent = metadata_.has("attention.kv_lora_rank");
      scaling["mscale_all_dim"] = latent ? 10 * *sharper : *sharper;
      scaling["mscale"] = latent ? 10 * *sharper : 1;
    }
    // As published for gpt-oss; its files don't say.
    if (json_["model_type"] == "gpt_oss") scaling["truncate"] = false;
    for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor"})
      expectOneOf(key, {1, 1 + 0.1 * std::log(std::max(factor, 1.0))});
    expectOneOf("rope.scaling.yarn_ext_factor", {1});
    return scaling;
  }

  /// Refuses a number other than these.
  void expectOneOf(const char* key, std::initializer_list<double> expected) {
    const auto found = metadata_.number(key);
    std::string known;
    for (const double each : expected) {
      if (!found || std::abs(*found - each) < 1e-4) return;
      known += fmt::format("{}{:.5g}", known.empty() ? "" : " or ", each);
    }
    metadata_.fail(fmt::format("{} is {:.5g}, expected {}", metadata_.at(key), *found, known));
  }

  /// The factor by which rotations are slowed down; 1 if the file has none.
  double slowing(const std::string& type) {
    const auto older = metadata_.number("rope.scale_linear"), newer = metadata_.number("rope.scaling.factor");
    const double factor = newer.value_or(older.value_or(1));
    if (type == "none" || factor == 0) return 1;
    if (factor > 0 && factor <= 1e6) return factor;
    metadata_.fail(
        fmt::format("{} is {}, expected a number above 0", metadata_.at("rope.scaling.factor"), factor));
    return 1;
  }

  /// Reads how rotations are stretched: by a factor, or by a table of them as in Llama 3.1 and Phi 3.
  void readScaling() {
    // A factor without a type slows all rotations down alike.
    const auto type = std::string(metadata_.text("rope.scaling.type").value_or("linear"));
    auto both = factors("rope_freqs.weight");
    const auto brief = factors("rope_factors_short.weight"), large = factors("rope_factors_long.weight");
    const double factor = slowing(type);
    const bool tables = brief && large;
    Json scaling = Json::object();
    if (both || tables) {
      if (type == "yarn" || (tables && factor != 1))
        metadata_.fail("has a tensor \"" + std::string(both ? "rope_freqs" : "rope_factors_long") +
                       ".weight\" and a " + metadata_.at("rope.scaling.type") + ", expected one of them");
      if (both)
        for (float& each : *both) each *= static_cast<float>(factor);
      scaling = {{"rope_type", "longrope"},
                 {"short_factor", both ? *both : *brief},
                 {"long_factor", both ? *both : *large}};
    } else if (type == "yarn") {
      scaling = yarn(factor);
    } else if (type == "linear" || type == "none") {
      if (factor != 1) scaling = {{"rope_type", "linear"}, {"factor", factor}};
    } else {
      scaling["rope_type"] = type;
    }
    const auto original = metadata_.integer("rope.scaling.original_context_length");
    Json& holder = json_["model_type"] == "phi3" ? json_ : scaling;  // as in their config.json
    if (both) {
      scaling["attention_factor"] = 1;
      holder["original_max_position_embeddings"] = std::max<std::int64_t>(sizeOf("context_length"), 2);
    } else if (tables) {
      if (const auto amplitude = metadata_.number("rope.scaling.attn_factor"))
        scaling["attention_factor"] = *amplitude;
      if (original) holder["original_max_position_embeddings"] = *original;
    }
    if (const double rate = metadata_.number("attention.temperature_scale").value_or(0); rate != 0) {
      scaling["llama_4_scaling_beta"] = rate;
      if (original) scaling["original_max_position_embeddings"] = *original;
    }
    if (!tables && type != "yarn") expectOneOf("rope.scaling.attn_factor", {1});
    if (!scaling.empty()) json_["rope_scaling"] = scaling;
  }

  /// Reads windows, caps, and the scale of scores, which files leave to their reader.
  void readGemma(const GgufFamily& family) {
    if (family.model == "phi3" || family.model.starts_with("gemma")) {
      const auto window = metadata_.integer("attention.sliding_window").value_or(0);
      if (window > 0) json_["sliding_window"] = window;
    }
    if (family.model != "gemma2" && family.model != "gemma3_text") return;
    const bool two = family.model == "gemma2";
    // Only Gemma 2 27B and Gemma 3 27B scale by width / heads.
    const auto layers = sizeOf("block_count");
    json_["query_pre_attn_scalar"] =
        layers == (two ? 46 : 62) ? sizeOf("embedding_length") / sizeOf("attention.head_count") : headDim_;
    for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"})
      if (const auto cap = metadata_.number(key)) json_[key] = *cap;
    if (two) return;
    for (const char* key : {"rope.freq_base_swa", "rope.local.freq_base"})
      if (const auto theta = metadata_.number(key)) json_["rope_local_base_freq"] = *theta;
    if (family.architecture == "gemma-embedding") json_["use_bidirectional_attention"] = true;
  }

  /// Reads which layers have a window: all but every n-th, or those that a list names. Without a window,
  /// Gemma 3 has full layers only.
  void readWindows() {
    constexpr const char* kKey = "attention.sliding_window_pattern";
    constexpr std::string_view kModels[] = {"gemma2", "gemma3_text", "cohere2", "gpt_oss", "olmo3"};
    const std::string model = json_["model_type"];
    if (std::ranges::find(kModels, model) == std::end(kModels)) return;
    const bool none = model == "gemma3_text" && !json_.contains("sliding_window");
    const GgufValue* const pattern = metadata_.find(kKey);
    if (!none && !pattern) return;
    const auto listed = pattern ? pattern->flags() : std::nullopt;
    const std::int64_t of = none || listed ? 1 : metadata_.integer(kKey).value_or(1);
    const std::int64_t layers = std::min<std::int64_t>(sizeOf("block_count"), kMaxLayers);
    std::vector<bool> slides = !none && listed ? *listed : std::vector<bool>();
    for (std::int64_t i = 0; i < layers && (none || !listed); ++i)
      slides.push_back(of < 1 || (i + 1) % of != 0);
    for (const bool one : slides)
      json_["layer_types"].push_back(one ? "sliding_attention" : "full_attention");
  }

  /// Reads what other files leave to their tensors or express differently.
  void readOthers(std::string_view model) {
    const bool biased = source_.tensors.contains("blk.0.attn_q.bias");
    const bool normed = source_.tensors.contains("blk.0.attn_q_norm.weight");
    if (model == "cohere") json_["use_qk_norm"] = normed;
    if (model == "stablelm") {
      json_["use_qkv_bias"] = biased;
      json_["qk_layernorm"] = normed;
      json_["use_parallel_residual"] = !source_.tensors.contains("blk.0.ffn_norm.weight");
    }
    if (model == "glm" || model == "glm4") json_["attention_bias"] = biased;
    if (model == "falcon") {
      const auto kvHeads = sizeOf("attention.head_count_kv");
      json_["new_decoder_architecture"] = kvHeads > 1;
      json_["num_kv_heads"] = kvHeads;
      json_["num_ln_in_parallel_attn"] = source_.tensors.contains("blk.0.attn_norm_2.weight") ? 2 : 1;
    }
    // OLMo 3 has OLMo 2's architecture, and windows.
    if (model == "olmo2" && metadata_.has("attention.sliding_window")) {
      json_["model_type"] = "olmo3";
      json_["sliding_window"] = sizeOf("attention.sliding_window");
    }
    if (model != "mpt") return;
    json_["attn_config"] = {{"alibi", true}, {"alibi_bias_max", json_["slopes"]}};
    json_.erase("slopes");
    if (const double most = metadata_.number("attention.clamp_kqv").value_or(0); most != 0)
      json_["attn_config"]["clip_qkv"] = most;
    const auto inner = sizeOf("feed_forward_length"), width = sizeOf("embedding_length");
    if (width < 1 || inner % width != 0)
      metadata_.fail(fmt::format("{} is {}, expected a multiple of the width, {}",
                                 metadata_.at("feed_forward_length"), inner, width));
    else
      json_["expansion_ratio"] = inner / width;
  }

  void readEnds() {
    Json ends = Json::array();
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"})
      if (const auto id = metadata_.integer(key)) ends.push_back(*id);
    if (!ends.empty()) json_["eos_token_id"] = ends;
  }

  const GgufSource& source_;
  GgufMetadata metadata_;
  Json json_ = Json::object();
  std::int64_t headDim_ = 1;
};

}  // namespace

Result<std::string> ggufConfig(const GgufSource& source) {
  return GgufConfigWriter(source).write();
}

}  // namespace headscope::attention

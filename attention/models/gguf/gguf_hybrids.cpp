#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/json_tree.h"
#include "attention/models/gguf/gguf_source.h"

// Hybrids in GGUF files, whose layers differ: what a layer is, its tensors tell.

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

/// Whether a layer has such a tensor.
bool has(const GgufSource& source, std::int64_t layer, std::string_view name) {
  return source.tensors.contains(fmt::format("blk.{}.{}.weight", layer, name));
}

/// Reads what divides layers into kinds at equal distances: the first such layer and the distance.
struct Period {
  std::int64_t every = 0, first = 0;
};
std::optional<Period> periodOf(const std::vector<bool>& picks) {
  const auto first = std::ranges::find(picks, true) - picks.begin();
  const auto next = std::find(picks.begin() + std::min(first + 1, std::ssize(picks)), picks.end(), true);
  const Period found{std::max<std::int64_t>(next - picks.begin() - first, first + 1), first};
  for (std::int64_t i = 0; i < std::ssize(picks); ++i)
    if (picks[asSize(i)] != (i % found.every == found.first % found.every)) return std::nullopt;
  return found;
}

/// Writes config.json's fields for the layers and states of a hybrid.
class HybridWriter {
 public:
  HybridWriter(const GgufSource& source, GgufMetadata& metadata, std::string_view model)
      : source_(source), metadata_(metadata), model_(model) {}

  Json write() {
    const std::int64_t layers =
        std::clamp<std::int64_t>(size("block_count") - size("nextn_predict_layers"), 1, kMaxLayers);
    json_["num_hidden_layers"] = layers;
    const auto kvHeads = metadata_.find("attention.head_count_kv");
    if (kvHeads && kvHeads->kind == GgufValue::Kind::list) {
      const auto all = metadata_.integers("attention.head_count_kv");
      if (all && !all->empty()) json_["num_key_value_heads"] = *std::ranges::max_element(*all);
    } else {
      json_["num_key_value_heads"] = size("attention.head_count_kv");
    }
    const std::int64_t heads = std::max<std::int64_t>(size("attention.head_count"), 1);
    json_["head_dim"] = metadata_.integer("attention.key_length").value_or(size("embedding_length") / heads);
    for (std::int64_t i = 0; i < layers; ++i) attends_.push_back(has(source_, i, "attn_output"));
    if (model_.starts_with("qwen"))
      delta();
    else if (model_.starts_with("lfm2"))
      convolution();
    else if (model_ == "jamba")
      mamba();
    else
      mamba2();
    if (model_ != "jamba" && model_ != "falcon_h1")
      for (const bool attends : attends_)
        json_["layer_types"].push_back(attends ? "full_attention" : "linear_attention");
    return json_;
  }

 private:
  std::int64_t size(const char* key) { return metadata_.integer(key).value_or(0); }

  /// An equal share of a size of the metadata.
  std::int64_t share(const char* whole, const char* parts) {
    const std::int64_t all = size(whole), count = size(parts);
    if (count > 0 && all % count == 0) return all / count;
    metadata_.fail(fmt::format("{} is {}, expected a multiple of {}, {}", metadata_.at(whole), all,
                               metadata_.at(parts), count));
    return 1;
  }

  void delta() {
    json_["linear_conv_kernel_dim"] = size("ssm.conv_kernel");
    json_["linear_key_head_dim"] = size("ssm.state_size");
    json_["linear_num_key_heads"] = size("ssm.group_count");
    json_["linear_num_value_heads"] = size("ssm.time_step_rank");
    json_["linear_value_head_dim"] = share("ssm.inner_size", "ssm.time_step_rank");
  }

  void convolution() {
    json_["conv_L_cache"] = size("shortconv.l_cache");
    json_["block_auto_adjust_ff_dim"] = false;  // the stated width is the adjusted one
    if (const auto epsilon = metadata_.number("attention.layer_norm_rms_epsilon"))
      json_["norm_eps"] = *epsilon;
    if (model_ == "lfm2_moe") json_["num_dense_layers"] = size("leading_dense_block_count");
  }

  void mambaSizes() {
    json_["mamba_d_conv"] = size("ssm.conv_kernel");
    json_["mamba_d_state"] = size("ssm.state_size");
    json_["mamba_conv_bias"] = std::ranges::any_of(
        source_.tensors, [](const auto& tensor) { return tensor.first.ends_with(".ssm_conv1d.bias"); });
    if (model_ != "falcon_h1") json_["mamba_expand"] = share("ssm.inner_size", "embedding_length");
  }

  void mamba() {
    mambaSizes();
    json_["mamba_dt_rank"] = size("ssm.time_step_rank");
    std::vector<bool> mixed;
    for (std::int64_t i = 0; i < std::ssize(attends_); ++i) mixed.push_back(has(source_, i, "ffn_gate_inp"));
    for (const auto& [picks, kind] : {std::pair(&attends_, "attn"), std::pair(&mixed, "expert")}) {
      const auto period = periodOf(*picks);
      if (!period)
        metadata_.fail(fmt::format("has {} layers at unequal distances, expected every n-th", kind));
      else
        json_[fmt::format("{}_layer_period", kind)] = period->every,
                                             json_[fmt::format("{}_layer_offset", kind)] = period->first;
    }
    json_["num_experts"] = std::max<std::int64_t>(size("expert_count"), 1);
    if (std::ranges::find(mixed, true) == mixed.end()) json_["num_experts"] = 1;
  }

  void mamba2() {
    mambaSizes();
    json_["mamba_n_heads"] = size("ssm.time_step_rank");
    json_["mamba_n_groups"] = size("ssm.group_count");
    json_["mamba_d_head"] = share("ssm.inner_size", "ssm.time_step_rank");
    if (model_ == "falcon_h1") {
      // Its factors are in the weights already. llama.cpp gates before it norms, the published code after.
      json_["mamba_d_ssm"] = size("ssm.inner_size");
      if (has(source_, 0, "ssm_norm")) metadata_.fail("has norms of its states' outputs, expected none");
      return;
    }
    json_["num_local_experts"] = size("expert_count");
    const bool rotates = metadata_.flag("rope.scaling.finetuned").value_or(false);
    json_["position_embedding_type"] = rotates ? "rope" : "nope";
    json_["shared_intermediate_size"] =
        size(size("expert_count") > 0 ? "expert_shared_feed_forward_length" : "feed_forward_length");
  }

  const GgufSource& source_;
  GgufMetadata& metadata_;
  const std::string_view model_;
  std::vector<bool> attends_;
  Json json_ = Json::object();
};

}  // namespace

std::string ggufHybrid(const GgufSource& source, GgufMetadata& metadata, std::string_view model) {
  return HybridWriter(source, metadata, model).write().dump();
}

void nameHybrid(const Family& family, const GgufSource& source, TensorNames& names) {
  const TensorNames& own = family.names;
  const bool convolutions = own.recurrence.kernel == "conv";
  names.q = "attn_q";
  names.k = "attn_k";
  names.v = "attn_v";
  names.qkv = {};
  names.recurrent = convolutions ? "shortconv." : "";
  if (convolutions)
    names.recurrence = {.kernel = "conv"};
  else
    names.recurrence = {.in = "ssm_in",
                        .out = "ssm_out",
                        .kernel = "ssm_conv1d",
                        .decay = "ssm_a",
                        .skip = "ssm_d",
                        .stepBias = "ssm_dt.bias",
                        .norm = "ssm_norm",
                        .select = "ssm_x",
                        .step = "ssm_dt",
                        .stepNorm = "ssm_dt_norm",
                        .keyNorm = "ssm_b_norm",
                        .queryNorm = "ssm_c_norm",
                        .grouped = "ssm_in",
                        .groupedRates = "ssm_ba",
                        .joined = "attn_qkv",
                        .gate = "attn_gate",
                        .rate = "ssm_beta",
                        .delta = "ssm_alpha",
                        .readyDecay = true};
  if (own.recurrent == "linear_attn.") names.mlpNorm = "post_attention_norm";
  if (!source.tensors.contains("output_norm.weight")) names.finalNorm = "token_embd_norm";
  names.up = "ffn_up";
  names.gate = "ffn_gate";
  names.gateUp = names.sharedGateUp = {};
  if (!own.sharedGateUp.empty()) {
    names.sharedUp = "ffn_up_shexp";
    names.sharedGate = "ffn_gate_shexp";
  }
}

}  // namespace headscope::attention

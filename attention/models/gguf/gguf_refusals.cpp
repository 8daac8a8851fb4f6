#include <fmt/core.h>

#include <cmath>

#include "attention/models/gguf/gguf_config.h"

// Metadata that change the computation in a way no family supports, or contradict their family.

namespace headscope::attention {
namespace {

void refuseSizes(const GgufFamily& family, GgufMetadata& metadata) {
  const auto experts = metadata.integer("expert_count").value_or(0);
  if (experts > 0 && family.experts.empty())
    metadata.fail(fmt::format("{} is {}: it is a mixture of experts, expected a model with one MLP per layer",
                              metadata.at("expert_count"), experts));
  const auto key = metadata.integer("attention.key_length"),
             value = metadata.integer("attention.value_length");
  if (key != value && !metadata.has("attention.kv_lora_rank"))
    metadata.fail(fmt::format("{} is {}, expected {}, as the keys'", metadata.at("attention.value_length"),
                              value.value_or(0), key.value_or(0)));
}

void refuseFactors(const GgufFamily& family, GgufMetadata& metadata) {
  const auto taken = [&](const std::string& name) {
    return (std::string(family.sizes) + " " + std::string(family.more)).find("=" + name) != std::string::npos;
  };
  for (const char* name : {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.scale",
                           "attention.temperature_scale", "logit_scale"})
    if (!taken(name) && !(family.model == "mpt" && name == std::string_view("attention.clamp_kqv")) &&
        metadata.number(name).value_or(0) != 0)
      metadata.fail(metadata.at(name) + " is " + metadata.find(name)->described() + ", expected none");
}

void refuseFlag(GgufMetadata& metadata, const char* key, bool expected) {
  if (metadata.flag(key).value_or(expected) != expected)
    metadata.fail(fmt::format("{} is {}, expected {}", metadata.at(key), !expected, expected));
}

/// Files of families with one way to choose and weigh experts may name it.
void refuseMixtures(const GgufFamily& family, GgufMetadata& metadata) {
  if (family.experts.empty() || family.model == "deepseek_v2") return;
  refuseFlag(metadata, "expert_weights_norm", family.model != "qwen2_moe" && family.model != "olmoe");
  const double scale = metadata.number("expert_weights_scale").value_or(1);
  if (scale != 0 && scale != 1)
    metadata.fail(fmt::format("{} is {}, expected 1", metadata.at("expert_weights_scale"), scale));
  constexpr std::int64_t kSoftmax = 1, kSoftmaxOfChosen = 3;
  const std::int64_t expected = family.model == "gpt_oss" ? kSoftmaxOfChosen : kSoftmax,
                     gate = metadata.integer("expert_gating_func").value_or(expected);
  if (gate != 0 && gate != expected)
    metadata.fail(fmt::format("{} is {}, expected {}", metadata.at("expert_gating_func"), gate, expected));
}

void refuseRotations(const GgufFamily& family, GgufMetadata& metadata) {
  // Granite's files use this to say whether positions are rotated; in others it only says how a model was
  // made.
  if (family.model == "granite") refuseFlag(metadata, "rope.scaling.finetuned", true);
  const auto base = metadata.number("rope.freq_base"), local = metadata.number("rope.freq_base_swa");
  constexpr double kStandard = 10000;
  const double expected = base.value_or(kStandard);
  if (local && family.model != "gemma3_text" && std::abs(*local - expected) > 1e-6 * std::abs(expected))
    metadata.fail(fmt::format("{} is {}, expected {}, as in the layers without a window",
                              metadata.at("rope.freq_base_swa"), *local, expected));
}

}  // namespace

void refuseUnsupported(const GgufFamily& family, GgufMetadata& metadata) {
  refuseSizes(family, metadata);
  refuseFactors(family, metadata);
  refuseFlag(metadata, "attention.causal", family.causal);
  refuseMixtures(family, metadata);
  refuseRotations(family, metadata);
}

}  // namespace headscope::attention

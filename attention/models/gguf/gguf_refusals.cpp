#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/models/gguf/gguf_config.h"
#include "attention/text/ascii.h"

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
  constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"mpt", "attention.clamp_kqv"}, {"ministral3", "attention.temperature_scale"}};
  for (const char* name : {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.scale",
                           "attention.temperature_scale", "logit_scale"})
    if (!taken(name) &&
        std::ranges::find(kElsewhere, std::pair(family.model, std::string_view(name))) ==
            std::end(kElsewhere) &&
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

/// Whether the file's name for the model, or the shape of Mistral 7B 0.1, says that it is a Mistral.
bool isMistralByName(const GgufMetadata& metadata, const ModelConfig& config) {
  for (const char* key : {"general.name", "general.basename"})
    if (const GgufValue* const name = metadata.find(key))
      if (lowerCase(name->text().value_or("")).find("mistral") != std::string::npos) return true;
  return config.modelDim == 4096 && config.innerDim == 14336 && config.layerCount() == 32 &&
         config.maxPositions == 32768;
}

}  // namespace

void noteUnsaid(const GgufSource& source, ModelConfig& config) {
  GgufMetadata metadata(source);
  constexpr const char *kWindow = "attention.sliding_window", *kShares = "expert_weights_norm";
  constexpr double kTheta = 10000;  // later Mistrals, which have no window, turn more slowly
  const std::string& architecture = metadata.architecture();
  const bool isMistral = architecture == "llama" && config.mixture.experts == 0 &&
                         metadata.number("rope.freq_base").value_or(kTheta) == kTheta &&
                         isMistralByName(metadata, config);
  const bool windowless =
      std::ranges::none_of(config.layers, [](const LayerKind& layer) { return layer.window.has_value(); });
  if (windowless && (isMistral || architecture == "starcoder2" || architecture.starts_with("qwen")))
    config.notes.push_back(fmt::format(
        "{}: every token sees all before it, as in llama.cpp.{}",
        metadata.has(kWindow) ? metadata.at(kWindow) + " is not applied"
                              : "The GGUF file can't say whether attention has a window",
        isMistral                      ? " Mistral 7B 0.1 has one of 4,096."
        : architecture == "starcoder2" ? " The published StarCoder2 models have one of 4,096."
                                       : " The published models don't use theirs."));
  if (config.mixture.experts > 0 && !metadata.has(kShares) &&
      (architecture.starts_with("qwen") || architecture == "olmoe"))
    config.notes.push_back(fmt::format(
        "The GGUF file doesn't say whether the shares of the chosen experts are made to sum to 1 "
        "(norm_topk_prob): taken as {}, as in llama.cpp.",
        config.mixture.sumsToOne));
}

void refuseUnsupported(const GgufFamily& family, GgufMetadata& metadata) {
  refuseSizes(family, metadata);
  refuseFactors(family, metadata);
  refuseFlag(metadata, "attention.causal", family.causal);
  refuseMixtures(family, metadata);
  refuseRotations(family, metadata);
}

}  // namespace headscope::attention

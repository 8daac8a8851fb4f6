#include "attention/models/families/fields.h"

namespace headscope::attention {

// OLMo 2 (OLMo et al. 2024): Llama with its norms after attention and MLP instead of before, and RMSNorm over
// all queries, and over all keys, of a token together. OLMo 3 (OLMo Team 2025): three layers with a window
// for each layer without one, and scaled rotations only in the latter.

namespace {

constexpr TensorNames kOlmo2Names = [] {
  TensorNames names = families::withHeadNorms(families::kLlamaNames);
  names.attentionNorm = names.mlpNorm = {};
  names.afterAttentionNorm = "post_attention_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
  return names;
}();

void readSizes(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  config.order = BlockOrder::around;
  config.qkNorm = QkNorm::whole;
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
}

void readOlmo2(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, config);
  families::readRotation(json, {}, config);
}

void readOlmo3(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, config);
  families::readWindows(
      json, families::readWindow(json, 4096), [](Index layer, Index of) { return (layer + 1) % of != 0; }, 4,
      config);
  constexpr double kTheta = 500000;
  families::readRotations(json, {.theta = kTheta}, json.positive("rope_theta", kTheta), config);
}

}  // namespace

constinit const Family families::olmo2{
    .name = "olmo2",
    .architecture = "Olmo2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kOlmo2Names,
    .tied = false,
    .fields = {.read = "attention_bias", .base = &kLlamaFields},
    .read = readOlmo2,
};

constinit const Family families::olmo3{
    .name = "olmo3",
    .architecture = "Olmo3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kOlmo2Names,
    .tied = false,
    .fields = {.read = "attention_bias sliding_window layer_types", .base = &kLlamaFields},
    .read = readOlmo3,
};

// OLMoE (Muennighoff et al. 2024): Llama with a mixture of experts in every layer and RMSNorm over all
// queries, and over all keys, of a token together.

namespace {

void readOlmoe(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  config.qkNorm = QkNorm::whole;
  if (const auto most = json.optionalPositive("clip_qkv")) config.clip = static_cast<float>(*most);
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  families::readRotation(json, {}, config);
  families::readMixture(json, {.innerDim = "intermediate_size", .count = 64, .used = 8}, config);
  config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
}

}  // namespace

constinit const Family families::olmoe{
    .name = "olmoe",
    .architecture = "Olmoe",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = families::withHeadNorms(families::withExperts(kLlamaNames)),
    .tied = false,
    .fields = {.read = "attention_bias num_experts num_experts_per_tok norm_topk_prob clip_qkv",
               .base = &kLlamaFields},
    .read = readOlmoe,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// GLM-4 (GLM Team 2024, 2025): Llama in which the neighbouring dimensions of half of each head are rotated
// together; since 0414 also with norms after attention and MLP.

namespace headscope::attention {
namespace {

constexpr TensorNames kGlmNames = [] {
  TensorNames names = families::kLlamaNames;
  names.gate = names.up = {};
  names.gateUp = "mlp.gate_up_proj";
  return names;
}();

constexpr TensorNames kGlm4Names = [] {
  TensorNames names = kGlmNames;
  names.afterAttentionNorm = "post_self_attn_layernorm";
  names.afterMlpNorm = "post_mlp_layernorm";
  return names;
}();

void readGlm(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 2, .headDim = 128});
  config.epsilon = json.positive("rms_norm_eps", 1.5625e-7);
  config.qkvBias = json.flag("attention_bias", true);
  families::readRotation(json, {.partial = 0.5}, config);
  for (Rotation& rotation : config.rotations) rotation.interleaved = true;
}

void readGlm4(const ConfigReader& json, ModelConfig& config) {
  readGlm(json, config);
  config.order = BlockOrder::around;
}

}  // namespace

constinit const Family families::glm{
    .name = "glm",
    .architecture = "Glm",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kGlmNames,
    .tied = false,
    .fields = {.read = "attention_bias", .base = &kLlamaFields},
    .read = readGlm,
};

constinit const Family families::glm4{
    .name = "glm4",
    .architecture = "Glm4",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kGlm4Names,
    .tied = false,
    .fields = {.read = "attention_bias", .base = &kLlamaFields},
    .read = readGlm4,
};

}  // namespace headscope::attention

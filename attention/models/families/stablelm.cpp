#include "attention/models/families/fields.h"

// StableLM 3B and 2 (Bellagente et al. 2024): Llama with LayerNorm, in which part of each head is rotated. In
// 2 12B, each head's queries and keys have their own norm, and attention and MLP read the same norm of the
// stream.

namespace headscope::attention {
namespace {

void readStableLm(const ConfigReader& json, ModelConfig& config);

constexpr Family stableLmWith(std::string_view mlpNorm) {
  TensorNames names = families::kLlamaNames;
  names.mlpNorm = mlpNorm;
  names.qNorm = "self_attn.q_layernorm.norms.H";
  names.kNorm = "self_attn.k_layernorm.norms.H";
  return {.name = "stablelm",
          .architecture = "StableLm",
          .prefixes = families::kLlamaPrefixes,
          .headPrefixes = families::kNoPrefix,
          .names = names,
          .tied = false,
          .fields = {.read = "layer_norm_eps use_qkv_bias qk_layernorm use_parallel_residual",
                     .ignored = "rope_pct rotary_scaling_factor norm_eps",
                     .base = &families::kLlamaFields},
          .read = readStableLm};
}

constexpr Family kOneNorm = stableLmWith(families::kLlamaNames.attentionNorm);

void readStableLm(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 32});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.qkvBias = json.flag("use_qkv_bias", false);
  if (json.flag("qk_layernorm", false)) config.qkNorm = QkNorm::perHead;
  if (json.flag("use_parallel_residual", false)) {
    config.family = &kOneNorm;
    config.order = BlockOrder::parallel;
  }
  families::readRotation(json, {.partial = 0.25}, config);
}

}  // namespace

constinit const Family families::stableLm = stableLmWith(kLlamaNames.mlpNorm);

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// StableLM 3B and 2 (Bellagente et al. 2024): Llama with LayerNorm, in which part of each head is rotated.

namespace headscope::attention {
namespace {

void readStableLm(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 32});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.qkvBias = json.flag("use_qkv_bias", false);
  families::readRotation(json, {.partial = 0.25}, config);
}

}  // namespace

constinit const Family families::stableLm{
    .name = "stablelm",
    .architecture = "StableLm",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "layer_norm_eps use_qkv_bias",
               .ignored = "rope_pct rotary_scaling_factor norm_eps",
               .fixed = "qk_layernorm=false use_parallel_residual=false",
               .base = &kLlamaFields},
    .read = readStableLm,
};

}  // namespace headscope::attention

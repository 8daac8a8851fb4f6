#include "attention/models/families/fields.h"

// Granite 3 (Granite Team 2024): Llama with factors on embeddings, scores, layer outputs and logits.

namespace headscope::attention {
namespace {

void readGranite(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  config.embeddingScale = static_cast<float>(json.positive("embedding_multiplier", 1));
  config.residualScale = static_cast<float>(json.positive("residual_multiplier", 1));
  config.logitScale = static_cast<float>(1 / json.positive("logits_scaling", 1));
  for (LayerKind& layer : config.layers)
    layer.scale = static_cast<float>(json.positive("attention_multiplier", 1));
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::granite{
    .name = "granite",
    .architecture = "Granite",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "attention_bias mlp_bias embedding_multiplier residual_multiplier logits_scaling "
                       "attention_multiplier",
               .base = &kLlamaFields},
    .read = readGranite,
};

}  // namespace headscope::attention

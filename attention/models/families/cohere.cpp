#include "attention/models/families/fields.h"

// Command R (Cohere 2024): attention and MLP read one LayerNorm of the stream, which has no bias;
// neighbouring dimensions are rotated together, and logits are scaled.

namespace headscope::attention {
namespace {

constexpr TensorNames kCohereNames = [] {
  TensorNames names = families::kLlamaNames;
  names.mlpNorm = names.attentionNorm;
  return names;
}();

void readCohere(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 8192});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.normBias = false;
  config.order = BlockOrder::parallel;
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.logitScale = static_cast<float>(json.positive("logit_scale", 0.0625));
  families::readRotation(json, {}, config);
  for (Rotation& rotation : config.rotations) rotation.neighbours = true;
}

}  // namespace

constinit const Family families::cohere{
    .name = "cohere",
    .architecture = "Cohere",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kCohereNames,
    .fields = {.read = "layer_norm_eps attention_bias logit_scale",
               .fixed = "use_qk_norm=false",
               .base = &kLlamaFields},
    .read = readCohere,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// Command R (Cohere 2024): attention and MLP read the same LayerNorm of the stream, which has no bias;
// neighbouring dimensions are rotated together, and logits are scaled. Command R+: each head's queries and
// keys have their own norm. Command R7B and A (Cohere 2025): three layers with a window for each layer
// without one; only those with a window are rotated.

namespace headscope::attention {
namespace {

constexpr TensorNames kCohereNames = [] {
  TensorNames names = families::withHeadNorms(families::kLlamaNames);
  names.mlpNorm = names.attentionNorm;
  return names;
}();

void readBoth(const ConfigReader& json, double theta, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 8192});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.normBias = false;
  config.order = BlockOrder::parallel;
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.logitScale = static_cast<float>(json.positive("logit_scale", 0.0625));
  families::readRotation(json, {.theta = theta}, config);
  for (Rotation& rotation : config.rotations) rotation.interleaved = true;
}

void readCohere(const ConfigReader& json, ModelConfig& config) {
  readBoth(json, 500000, config);
  if (json.flag("use_qk_norm", false)) config.qkNorm = QkNorm::perHead;
}

void readCohere2(const ConfigReader& json, ModelConfig& config) {
  readBoth(json, 10000, config);
  families::readWindows(
      json, families::readWindow(json, 4096), [](Index layer, Index of) { return (layer + 1) % of != 0; },
      json.size("sliding_window_pattern", 4, 1, kMaxLayers), config);
  for (LayerKind& layer : config.layers)
    if (!layer.window) layer.rotation.reset();
}

}  // namespace

constinit const Family families::cohere{
    .name = "cohere",
    .architecture = "Cohere",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kCohereNames,
    .fields = {.read = "layer_norm_eps attention_bias logit_scale use_qk_norm", .base = &kLlamaFields},
    .read = readCohere,
};

constinit const Family families::cohere2{
    .name = "cohere2",
    .architecture = "Cohere2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kCohereNames,
    .fields = {.read = "layer_norm_eps attention_bias logit_scale sliding_window sliding_window_pattern "
                       "layer_types",
               .ignored = "_sliding_window_pattern use_parallel_embedding",
               .fixed = "layer_switch=4 order_of_interleaved_layers=\"local_attn_first\" "
                        "position_embedding_type=\"rope_gptj\" rotary_pct=1.0 use_embedding_sharing=true "
                        "use_gated_activation=true use_parallel_block=true",
               .base = &kLlamaFields},
    .read = readCohere2,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// Mistral (Jiang et al. 2023): Llama with a window on all layers. Ministral 3 (Mistral AI 2025) has none; far
// beyond the trained length its queries grow.

namespace headscope::attention {
namespace {

void readMistral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8});
  families::readRotation(json, {}, config);
  const auto window = families::readWindow(json, 4096);
  for (LayerKind& layer : config.layers) layer.window = window;
}

void readMinistral3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 262144, .kvHeads = 8, .headDim = 128});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  families::readRotation(json, {.theta = 1e6}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::mistral{
    .name = "mistral",
    .architecture = "Mistral",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "sliding_window", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read = readMistral,
};

constinit const Family families::ministral3{
    .name = "ministral3",
    .architecture = "Ministral3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "sliding_window", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read = readMinistral3,
};

}  // namespace headscope::attention

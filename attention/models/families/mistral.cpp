#include "attention/models/families/fields.h"

// Mistral (Jiang et al. 2023): Llama with a window on all layers.

namespace headscope::attention {
namespace {

void readMistral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8});
  families::readRotation(json, {}, config);
  const auto window = families::readWindow(json, 4096);
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

}  // namespace headscope::attention

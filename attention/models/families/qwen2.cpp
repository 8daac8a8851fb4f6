#include "attention/models/families/fields.h"

// Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases on q, k and v.

namespace headscope::attention {
namespace {

void readQwen2(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 32});
  config.qkvBias = true;
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config, [](Index layer, Index bound) { return layer >= bound; });
}

}  // namespace

constinit const Family families::qwen2{
    .name = "qwen2",
    .architecture = "Qwen2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "use_sliding_window sliding_window max_window_layers layer_types",
               .base = &kLlamaFields},
    .read = readQwen2,
};

}  // namespace headscope::attention

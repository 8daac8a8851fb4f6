#include "attention/models/families/fields.h"

// Qwen 3 (Yang et al. 2025): Llama with RMSNorm on each head's queries and keys.

namespace headscope::attention {
namespace {

void readQwen3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 32, .headDim = 128});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.qkNorm = QkNorm::head;
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config, [](Index layer, Index bound) { return layer >= bound; });
}

}  // namespace

constinit const Family families::qwen3{
    .name = "qwen3",
    .architecture = "Qwen3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = families::withHeadNorms(kLlamaNames),
    .tied = false,
    .fields = {.read = "attention_bias use_sliding_window sliding_window max_window_layers layer_types",
               .base = &kLlamaFields},
    .read = readQwen3,
};

}  // namespace headscope::attention

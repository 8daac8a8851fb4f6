#include "attention/models/families/fields.h"

// Llama (Touvron et al. 2023; Grattafiori et al. 2024): RMSNorm before each part, rotary positions, grouped
// queries, a gated MLP.

namespace headscope::attention {
namespace {

void readLlama(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::llama{
    .name = "llama",
    .architecture = "Llama",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "attention_bias mlp_bias", .base = &kLlamaFields},
    .read = readLlama,
};

}  // namespace headscope::attention

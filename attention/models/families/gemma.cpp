#include "attention/models/families/gemma.h"

#include <cmath>

namespace headscope::attention {

void families::readGemmaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  readLlamaSizes(json, config, defaults);
  config.activation = readActivation(json, "hidden_activation", "gelu_pytorch_tanh");
  config.norm = NormKind::rmsPlusOne;
  config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.causal = !json.flag("use_bidirectional_attention", false);
}

constinit const ConfigFields families::kGemmaFields{
    .read = "hidden_activation attention_bias use_bidirectional_attention",
    .base = &kLlamaFields,
};

namespace {

// Gemma (Gemma Team 2024): Llama with 1 + w in its norms, √d on embeddings and GELU.
void readGemma(const ConfigReader& json, ModelConfig& config) {
  families::readGemmaSizes(json, config, {.positions = 8192, .kvHeads = 16, .headDim = 256});
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::gemma{
    .name = "gemma",
    .architecture = "Gemma",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .fields = {.base = &kGemmaFields},
    .read = readGemma,
};

}  // namespace headscope::attention

#include "attention/models/families/gemma.h"

#include <cmath>

namespace headscope::attention {

void families::readGemmaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  readLlamaSizes(json, config, defaults);
  config.activation = readActivation(json, "hidden_activation", "gelu_pytorch_tanh");
  config.norm = NormKind::rmsPlusOne;
  config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
}

namespace {

// Gemma (Gemma Team 2024): Llama with 1 + w in its norms, √d on embeddings and GELU.
void readGemma(const ConfigReader& json, ModelConfig& config) {
  families::readGemmaSizes(json, config);
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::gemma{
    .name = "gemma",
    .architecture = "Gemma",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .read = readGemma,
};

}  // namespace headscope::attention

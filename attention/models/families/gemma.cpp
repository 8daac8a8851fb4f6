#include "attention/models/families/gemma.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// Gemma 2 and 3 read only hidden_activation. Gemma's code did so before transformers 4.48 and has read
/// hidden_act since.
void readGemmaActivation(const ConfigReader& json, ModelConfig& config) {
  constexpr std::string_view kNew = "hidden_activation", kOld = "hidden_act", kStandard = "gelu_pytorch_tanh";
  const bool readsOld = config.family == &families::gemma && !json.has(kNew);
  config.activation = families::readActivation(json, readsOld ? kOld : kNew, kStandard);
  if (readsOld || families::readActivation(json, kOld, json.text(kNew, kStandard)) == config.activation)
    return;
  config.notes.push_back(
      fmt::format("config.json says {} for hidden_act, {} for hidden_activation: the latter counts.",
                  quotedText(json.text(kOld, "")), quotedText(json.text(kNew, kStandard))));
}

}  // namespace

void families::readGemmaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  readLlamaSizes(json, config, defaults);
  readGemmaActivation(json, config);
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

// Gemma (Gemma Team 2024): Llama with 1 + w in its norms, embeddings times √d, and GELU.
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

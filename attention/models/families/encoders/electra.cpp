#include <algorithm>

#include "attention/models/families/encoders/bert.h"

// ELECTRA (Clark et al. 2020): BERT with embeddings of another width, which are mapped to the model's. Most
// published checkpoints are the discriminator, which tells which tokens were replaced; the generator predicts
// tokens.

namespace headscope::attention {
namespace {

constexpr std::string_view kElectraPrefixes[] = {"electra.", ""};

constexpr TensorNames kElectraNames = [] {
  TensorNames names = families::kBertNames;
  names.embeddingMap = "embeddings_project";
  names.head = "generator_lm_head";
  names.headDense = "generator_predictions.dense";
  names.headNorm = "generator_predictions.LayerNorm";
  names.headBias = "generator_lm_head.bias";
  return names;
}();

void readElectra(const ConfigReader& json, ModelConfig& config) {
  families::readBertFields(json, 0, config);
  const Index size = json.size("embedding_size", 128);
  if (size != config.modelDim) config.embeddingDim = size;
  // Its head ignores hidden_act (ElectraGeneratorPredictions).
  config.headActivation = Activation::gelu;
  if (const auto classes = json.texts("architectures");
      !classes.empty() && classes[0] == "ElectraForPreTraining")
    config.notes.emplace_back(
        "This is ELECTRA's discriminator: it tells which tokens were replaced, and predicts none.");
}

}  // namespace

constinit const Family families::electra{
    .name = "electra",
    .architecture = "Electra",
    .prefixes = kElectraPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kElectraNames,
    .encoder = true,
    .fields = {.read = "embedding_size",
               .ignored = "summary_activation summary_last_dropout summary_type summary_use_proj "
                          "generator_size",
               .base = &kBertFields},
    .read = readElectra,
};

}  // namespace headscope::attention

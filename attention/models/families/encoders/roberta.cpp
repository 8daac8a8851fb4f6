#include "attention/models/families/encoders/bert.h"

// RoBERTa (Liu et al. 2019): BERT whose positions begin after that of the padding token.

namespace headscope::attention {
namespace {

constexpr std::string_view kRobertaPrefixes[] = {"roberta.", ""};

constexpr TensorNames withHead(TensorNames names) {
  names.head = "lm_head.decoder";
  names.headDense = "lm_head.dense";
  names.headNorm = "lm_head.layer_norm";
  names.headBias = "lm_head.bias";
  return names;
}

void readRoberta(const ConfigReader& json, ModelConfig& config) {
  // Padding takes no position; it has the row before the first position's (create_position_ids_from_input_ids
  // of transformers).
  const Index pad = json.size("pad_token_id", 1, 0);
  families::readBertFields(json, pad + 1, config);
  config.padToken = pad;
  // Its head ignores hidden_act (RobertaLMHead).
  config.headActivation = Activation::gelu;
}

constexpr Family kRoberta{
    .name = "roberta",
    .architecture = "Roberta",
    .prefixes = kRobertaPrefixes,
    .headPrefixes = families::kNoPrefix,
    .names = withHead(families::kBertNames),
    .encoder = true,
    .fields = {.read = "pad_token_id", .base = &families::kBertFields},
    .read = readRoberta,
};

constexpr Family named(Family family, std::string_view name, std::string_view architecture) {
  family.name = name;
  family.architecture = architecture;
  return family;
}

}  // namespace

constinit const Family families::roberta = kRoberta;

// XLM-R (Conneau et al. 2020): RoBERTa with a vocabulary for a hundred languages.
constinit const Family families::xlmRoberta = named(kRoberta, "xlm-roberta", "XLMRoberta");

}  // namespace headscope::attention

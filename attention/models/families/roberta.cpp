#include "attention/models/families/bert.h"

// RoBERTa (Liu et al. 2019): BERT whose positions begin behind that of the padding token.

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
  families::readBertFields(json, json.size("pad_token_id", 1, 0) + 1, config);
}

}  // namespace

constinit const Family families::roberta{
    .name = "roberta",
    .architecture = "Roberta",
    .prefixes = kRobertaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = withHead(kBertNames),
    .read = readRoberta,
};

}  // namespace headscope::attention

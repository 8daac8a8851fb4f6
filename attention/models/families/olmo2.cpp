#include "attention/models/families/fields.h"

// OLMo 2 (OLMo et al. 2024): Llama with its norms after attention and MLP instead of before, and RMSNorm over
// all queries, and over all keys, of a token together.

namespace headscope::attention {
namespace {

constexpr TensorNames kOlmo2Names = [] {
  TensorNames names = families::withHeadNorms(families::kLlamaNames);
  names.attentionNorm = names.mlpNorm = {};
  names.afterAttentionNorm = "post_attention_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
  return names;
}();

void readOlmo2(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  config.order = BlockOrder::around;
  config.wholeQkNorm = true;
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::olmo2{
    .name = "olmo2",
    .architecture = "Olmo2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kOlmo2Names,
    .tied = false,
    .fields = {.read = "attention_bias", .base = &kLlamaFields},
    .read = readOlmo2,
};

}  // namespace headscope::attention

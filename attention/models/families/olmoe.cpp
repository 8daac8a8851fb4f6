#include "attention/models/families/fields.h"

// OLMoE (Muennighoff et al. 2024): Llama with a mixture of experts in every layer and RMSNorm over all
// queries, and over all keys, of a token together.

namespace headscope::attention {
namespace {

void readOlmoe(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  config.qkNorm = QkNorm::whole;
  if (const auto most = json.optionalPositive("clip_qkv")) config.clip = static_cast<float>(*most);
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  families::readRotation(json, {}, config);
  families::readMixture(json, {.innerDim = "intermediate_size", .count = 64, .used = 8}, config);
  config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
}

}  // namespace

constinit const Family families::olmoe{
    .name = "olmoe",
    .architecture = "Olmoe",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = families::withHeadNorms(families::withExperts(kLlamaNames)),
    .tied = false,
    .fields = {.read = "attention_bias num_experts num_experts_per_tok norm_topk_prob clip_qkv",
               .base = &kLlamaFields},
    .read = readOlmoe,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// Qwen 3 (Yang et al. 2025): Llama with RMSNorm on each head's queries and keys.

namespace headscope::attention {
namespace {

constexpr TensorNames withHeadNorms(TensorNames names) {
  names.qNorm = "self_attn.q_norm";
  names.kNorm = "self_attn.k_norm";
  return names;
}

void read(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.headDim = 128});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.qkNorm = true;
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config);
}

}  // namespace

constinit const Family families::qwen3{
    .name = "qwen3",
    .architecture = "Qwen3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = withHeadNorms(kLlamaNames),
    .read = read,
};

}  // namespace headscope::attention

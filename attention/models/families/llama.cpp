#include "attention/models/families/fields.h"

// Llama (Touvron et al. 2023; Grattafiori et al. 2024): RMSNorm before each part, rotary positions, grouped
// queries, a gated MLP. InternLM3 (Shanghai AI Laboratory 2025), IQuest-Coder (2025) and Seed-OSS (ByteDance
// 2025) are Llama with other defaults; Seed-OSS has biases on q, k and v alone.

namespace headscope::attention {
namespace {

void readSizes(const ConfigReader& json, const families::LlamaDefaults& defaults, double epsilon,
               ModelConfig& config) {
  families::readLlamaSizes(json, config, defaults);
  config.epsilon = json.positive("rms_norm_eps", epsilon);
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  families::readRotation(json, {}, config);
}

void readLlama(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 2048}, 1e-6, config);
}

/// Its own code calls attention_bias qkv_bias, and mlp_bias bias.
void readInternLm3(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 32768, .kvHeads = 2, .headDim = 128}, 1e-5, config);
  config.qkvBias = config.outputBias = json.flag("qkv_bias", config.qkvBias);
  config.mlpBias = json.flag("bias", config.mlpBias);
}

void readIQuestCoder(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 131072, .kvHeads = 8, .headDim = 128}, 1e-5, config);
}

void readSeedOss(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 524288, .kvHeads = 8, .headDim = 128}, 1e-6, config);
  config.qkvBias = json.flag("attention_bias", true);
  config.outputBias = json.flag("attention_out_bias", false);
}

constexpr ConfigFields kBiases{.read = "attention_bias mlp_bias", .base = &families::kLlamaFields};

constexpr Family llamaNamed(std::string_view name, std::string_view architecture, const ConfigFields& fields,
                            void (*read)(const ConfigReader&, ModelConfig&)) {
  return {.name = name,
          .architecture = architecture,
          .prefixes = families::kLlamaPrefixes,
          .headPrefixes = families::kNoPrefix,
          .names = families::kLlamaNames,
          .tied = false,
          .fields = fields,
          .read = read};
}

}  // namespace

constinit const Family families::llama = llamaNamed("llama", "Llama", kBiases, readLlama);
constinit const Family families::internLm3 =
    llamaNamed("internlm3", "InternLM3", {.read = "qkv_bias bias", .base = &kBiases}, readInternLm3);
constinit const Family families::iQuestCoder =
    llamaNamed("iquestcoder", "IQuestCoder", {.fixed = "clip_qkv=null", .base = &kBiases}, readIQuestCoder);
constinit const Family families::seedOss = llamaNamed(
    "seed_oss", "SeedOss", {.read = "attention_out_bias", .ignored = "residual_dropout", .base = &kBiases},
    readSeedOss);

}  // namespace headscope::attention

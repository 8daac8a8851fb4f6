#include "attention/models/families/fields.h"

// gpt-oss (OpenAI 2025): a mixture of experts in every layer, a window on every other one, and a sink per
// head: a learned score that belongs to no key, in addition to those of the keys.

namespace headscope::attention {
namespace {

constexpr TensorNames kGptOssNames = [] {
  TensorNames names = families::kLlamaNames;
  names.up = names.down = names.gate = {};
  names.sinks = "self_attn.sinks";
  names.router = "mlp.router";
  names.expertGateUp = "mlp.experts.gate_up_proj";
  names.expertDown = "mlp.experts.down_proj";
  return names;
}();

void readGptOss(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8, .headDim = 64});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  config.qkvBias = config.outputBias = json.flag("attention_bias", true);
  config.sinks = true;
  // Regardless of hidden_act (GptOssExperts of transformers).
  config.activation = Activation::quickGelu;
  config.gateLimit = 7;
  if (!json.has("rope_scaling") && !json.has("rope_parameters")) {
    ConfigReader rope = json;
    rope.addDefaults(R"({"rope_scaling": {"rope_type": "yarn", "factor": 32.0, "truncate": false,
                         "original_max_position_embeddings": 4096}})");
  }
  families::readRotation(json, {.theta = 150000}, config);
  families::readWindows(
      json, families::readWindow(json, 128), [](Index layer, Index) { return layer % 2 == 0; }, 0, config);
  families::readMixture(
      json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 128, .used = 4},
      config);
  config.mixture.sumsToOne = true;  // the softmax covers only the chosen experts
  config.mixture.biased = true;
}

}  // namespace

constinit const Family families::gptOss{
    .name = "gpt_oss",
    .architecture = "GptOss",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kGptOssNames,
    .tied = false,
    .fields = {.read = "attention_bias sliding_window layer_types num_local_experts num_experts_per_tok",
               .ignored = "initial_context_length",
               .fixed = "swiglu_alpha=1.702 swiglu_limit=7.0 experts_per_token=@num_experts_per_tok",
               .base = &kLlamaFields},
    .read = readGptOss,
};

}  // namespace headscope::attention

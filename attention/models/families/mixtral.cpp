#include "attention/models/families/fields.h"

// Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in every layer.

namespace headscope::attention {
namespace {

constexpr TensorNames kMixtralNames = [] {
  TensorNames names = families::kLlamaNames;
  names.up = names.down = names.gate = {};
  names.router = "block_sparse_moe.gate";
  names.expertGate = "block_sparse_moe.experts.E.w1";
  names.expertDown = "block_sparse_moe.experts.E.w2";
  names.expertUp = "block_sparse_moe.experts.E.w3";
  return names;
}();

void readMixtral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  families::readRotation(json, {.theta = 1e6}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
  families::readMixture(
      json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2}, config);
  config.mixture.sumsToOne = true;
}

}  // namespace

constinit const Family families::mixtral{
    .name = "mixtral",
    .architecture = "Mixtral",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kMixtralNames,
    .tied = false,
    .fields = {.read = "sliding_window num_local_experts num_experts_per_tok",
               .ignored = "router_jitter_noise",
               .fixed = "attention_bias=false",
               .base = &kLlamaFields},
    .read = readMixtral,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// StarCoder2 (Lozhkov et al. 2024): Llama's shape with LayerNorm, biases and a plain MLP.

namespace headscope::attention {
namespace {

constexpr TensorNames kStarCoder2Names = [] {
  TensorNames names = families::kLlamaNames;
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  names.gate = {};
  return names;
}();

void readStarCoder2(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 2});
  config.activation = families::readActivation(json, "hidden_act", "gelu_pytorch_tanh");
  config.epsilon = json.positive("norm_epsilon", 1e-5);
  config.norm = NormKind::layer;
  config.gated = false;
  config.qkvBias = config.outputBias = config.mlpBias = json.flag("use_bias", true);
  families::readRotation(json, {}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::starcoder2{
    .name = "starcoder2",
    .architecture = "Starcoder2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kStarCoder2Names,
    .fields = {.read = "norm_epsilon use_bias sliding_window",
               .ignored = "residual_dropout embedding_dropout activation_function layer_norm_epsilon "
                          "attention_softmax_in_fp32 scale_attention_softmax_in_fp32 scale_attn_weights",
               .fixed = R"(mlp_type="default" norm_type="layer_norm")",
               .base = &kLlamaFields},
    .read = readStarCoder2,
};

}  // namespace headscope::attention

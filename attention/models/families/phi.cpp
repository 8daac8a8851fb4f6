#include "attention/models/families/fields.h"

namespace headscope::attention {

// Phi-1, 1.5 and 2 (Gunasekar et al. 2023; Li et al. 2023): attention and MLP read the same LayerNorm of the
// stream, part of each head is rotated, and the language-model head has a bias.

namespace {

void readPhi(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.activation = families::readActivation(json, "hidden_act", "gelu_new");
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.order = BlockOrder::parallel;
  config.gated = false;
  config.qkvBias = config.outputBias = config.mlpBias = config.headBias = true;
  if (json.flag("qk_layernorm", false)) config.qkNorm = QkNorm::head;
  families::readRotation(json, {.partial = 0.5}, config);
}

}  // namespace

constinit const Family families::phi{
    .name = "phi",
    .architecture = "Phi",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "embed_tokens",
              .layer = "layers.N.",
              .q = "self_attn.q_proj",
              .k = "self_attn.k_proj",
              .v = "self_attn.v_proj",
              .o = "self_attn.dense",
              .up = "mlp.fc1",
              .down = "mlp.fc2",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "input_layernorm",
              .qNorm = "self_attn.q_layernorm",
              .kNorm = "self_attn.k_layernorm",
              .finalNorm = "final_layernorm",
              .head = "lm_head"},
    .tied = false,
    .fields = {.read = "layer_norm_eps qk_layernorm", .base = &kLlamaFields},
    .read = readPhi,
};

// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama with fused weights.

namespace {

void readPhi3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  families::readRotation(json, {.partial = 1}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::phi3{
    .name = "phi3",
    .architecture = "Phi3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "embed_tokens",
              .layer = "layers.N.",
              .qkv = "self_attn.qkv_proj",
              .o = "self_attn.o_proj",
              .down = "mlp.down_proj",
              .gateUp = "mlp.gate_up_proj",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "post_attention_layernorm",
              .finalNorm = "norm",
              .head = "lm_head"},
    .tied = false,
    .fields = {.read = "sliding_window original_max_position_embeddings",
               .fixed = "attention_bias=false mlp_bias=false lm_head_bias=false full_attn_mod=1 "
                        "interpolate_factor=1",
               .base = &kLlamaFields},
    .read = readPhi3,
};

}  // namespace headscope::attention

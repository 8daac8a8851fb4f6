#include "attention/models/families/fields.h"

// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama with fused weights.

namespace headscope::attention {
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

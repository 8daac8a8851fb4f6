#include <algorithm>

#include "attention/models/families/fields.h"

// Falcon 7B (Almazrouei et al. 2023): one kv head for all queries; attention and MLP read the same LayerNorm
// of the stream.

namespace headscope::attention {
namespace {

constexpr std::string_view kFalconPrefixes[] = {"transformer.", ""};

void readFalcon(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("hidden_size", 4544);
  config.innerDim = json.size("ffn_hidden_size", std::min(4 * config.modelDim, kMaxConfigSize));
  config.vocabulary = json.size("vocab_size", 65024);
  config.heads = json.size("num_attention_heads", 71);
  config.kvHeads = 1;
  config.headDim =
      families::evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
  config.activation = families::readActivation(json, "activation", "gelu");
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.order = BlockOrder::parallel;
  families::addLayers(config, json.size("num_hidden_layers", 32, 1, kMaxLayers));
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::falcon{
    .name = "falcon",
    .architecture = "Falcon",
    .prefixes = kFalconPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "word_embeddings",
              .layer = "h.N.",
              .qkv = "self_attention.query_key_value",
              .o = "self_attention.dense",
              .up = "mlp.dense_h_to_4h",
              .down = "mlp.dense_4h_to_h",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "input_layernorm",
              .finalNorm = "ln_f",
              .head = "lm_head"},
    .fields = {.read = "hidden_size ffn_hidden_size vocab_size num_attention_heads num_hidden_layers "
                       "max_position_embeddings activation layer_norm_epsilon rope_theta "
                       "rope_scaling rope_parameters partial_rotary_factor "
                       "original_max_position_embeddings",
               .ignored = "hidden_dropout num_kv_heads apply_residual_connection_post_layernorm "
                          "num_ln_in_parallel_attn",
               .fixed = "multi_query=true new_decoder_architecture=false parallel_attn=true bias=false "
                        "alibi=false n_head=@num_attention_heads n_layer=@num_hidden_layers",
               .base = &kSharedFields},
    .read = readFalcon,
};

}  // namespace headscope::attention

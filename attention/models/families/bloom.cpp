#include <algorithm>

#include "attention/models/families/fields.h"

// Bloom (Scao et al. 2022): positions only through ALiBi, and a norm on the embeddings.

namespace headscope::attention {
namespace {

constexpr std::string_view kBloomPrefixes[] = {"transformer.", ""};

/// Reads a size that has two names; the first takes precedence.
Index sizeUnder(const ConfigReader& json, std::string_view first, std::string_view second,
                Index most = kMaxConfigSize) {
  return json.size(json.has(first) ? first : second, {}, 1, most);
}

void readBloom(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = sizeUnder(json, "n_embed", "hidden_size");
  config.innerDim = json.size("n_inner", std::min(4 * config.modelDim, kMaxConfigSize));
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = sizeUnder(json, "num_attention_heads", "n_head");
  config.headDim = families::evenShare(json, "hidden_size", config.modelDim, "n_head", config.heads);
  config.maxPositions = json.size("seq_length", 2048, 1, kMaxPositions);
  config.activation = Activation::geluTanh;
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.qkvBias = config.outputBias = config.mlpBias = true;
  config.alibi = true;
  if (json.flag("apply_residual_connection_post_layernorm", false)) config.order = BlockOrder::normed;
  families::addLayers(config, sizeUnder(json, "num_hidden_layers", "n_layer", kMaxLayers));
}

}  // namespace

constinit const Family families::bloom{
    .name = "bloom",
    .architecture = "Bloom",
    .prefixes = kBloomPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "word_embeddings",
              .embeddingNorm = "word_embeddings_layernorm",
              .layer = "h.N.",
              .qkv = "self_attention.query_key_value",
              .fused = FusedRows::heads,
              .o = "self_attention.dense",
              .up = "mlp.dense_h_to_4h",
              .down = "mlp.dense_4h_to_h",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "post_attention_layernorm",
              .finalNorm = "ln_f",
              .head = "lm_head"},
    .fields = {.read = "n_embed hidden_size n_inner vocab_size n_head num_attention_heads n_layer "
                       "num_hidden_layers seq_length layer_norm_epsilon "
                       "apply_residual_connection_post_layernorm",
               .ignored = "hidden_dropout slow_but_exact attention_softmax_in_fp32 bias_dropout_fusion "
                          "masked_softmax_fusion offset_alibi skip_bias_add skip_bias_add_qkv",
               .base = &kSharedFields},
    .read = readBloom,
};

}  // namespace headscope::attention

#include "attention/models/families/fields.h"

// ModernBERT (Warner et al. 2024): an encoder with rotary positions, a gated MLP and no biases, in which one
// layer in three sees the whole text and the others a window to both sides.

namespace headscope::attention {
namespace {

/// Reads rotations[0] for full layers and [1] for those with a window. Newer files nest one set of fields for
/// each kind.
void readBothRotations(const ConfigReader& json, ModelConfig& config) {
  const double global = json.positive("global_rope_theta", 160000),
               local = json.isNull("local_rope_theta") ? global : json.positive("local_rope_theta", 10000);
  const ConfigReader nested = json.object("rope_parameters");
  config.rotations = {families::rotationOf(json, nested.object("full_attention"), global, {}, config),
                      families::rotationOf(json, nested.object("sliding_attention"), local, {}, config)};
  for (LayerKind& layer : config.layers) layer.rotation = layer.window ? 1 : 0;
}

void readModernBert(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("hidden_size", 768);
  config.innerDim = json.size("intermediate_size", 1152);
  config.vocabulary = json.size("vocab_size", 50368);
  config.heads = config.kvHeads = json.size("num_attention_heads", 12);
  config.headDim =
      families::evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.maxPositions = json.size("max_position_embeddings", 8192, 1, kMaxPositions);
  config.activation = families::readActivation(json, "hidden_activation", "gelu");
  config.headActivation = families::readActivation(json, "classifier_activation", "gelu");
  config.epsilon = json.positive("norm_eps", 1e-5);
  config.normBias = json.flag("norm_bias", false);
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  config.headDenseBias = json.flag("classifier_bias", false);
  config.gated = true;
  config.causal = false;
  config.firstLayerNormed = false;  // the embedding's norm precedes it
  families::addLayers(config, json.size("num_hidden_layers", 22, 1, kMaxLayers));
  // Half of local_attention on each side.
  const Index window = json.size("local_attention", 128, 1, kMaxPositions) / 2 + 1;
  families::readWindows(
      json, window, [](Index layer, Index every) { return layer % every != 0; },
      json.size("global_attn_every_n_layers", 3, 1, kMaxLayers), config);
  readBothRotations(json, config);
}

}  // namespace

constinit const Family families::modernBert{
    .name = "modernbert",
    .architecture = "ModernBert",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "embeddings.tok_embeddings",
              .embeddingNorm = "embeddings.norm",
              .layer = "layers.N.",
              .qkv = "attn.Wqkv",
              .fused = FusedRows::thirds,
              .o = "attn.Wo",
              .down = "mlp.Wo",
              .gateUp = "mlp.Wi",
              .attentionNorm = "attn_norm",
              .mlpNorm = "mlp_norm",
              .finalNorm = "final_norm",
              .head = "decoder",
              .headDense = "head.dense",
              .headNorm = "head.norm",
              .headBias = "decoder.bias"},
    .encoder = true,
    .fields = {.read = "hidden_size intermediate_size vocab_size num_attention_heads max_position_embeddings "
                       "hidden_activation classifier_activation norm_eps norm_bias attention_bias mlp_bias "
                       "classifier_bias num_hidden_layers local_attention layer_types "
                       "global_attn_every_n_layers global_rope_theta local_rope_theta rope_parameters",
               .ignored = "classifier_dropout classifier_pooling embedding_dropout mlp_dropout "
                          "deterministic_flash_attn initializer_cutoff_factor position_embedding_type "
                          "reference_compile repad_logits_with_grad sparse_pred_ignore_index "
                          "sparse_prediction layer_norm_eps",
               .fixed = "decoder_bias=true",
               .base = &kSharedFields},
    .read = readModernBert,
};

}  // namespace headscope::attention

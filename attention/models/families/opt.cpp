#include "attention/models/families/fields.h"

// OPT (Zhang et al. 2022): learned positions from row 2 on, LayerNorm before each part, ReLU. OPT-350M has
// narrower embeddings and its norms after each part; Galactica (Taylor et al. 2022) has no biases and norms
// without weights.

namespace headscope::attention {
namespace {

constexpr std::string_view kOptPrefixes[] = {"model.decoder.", "decoder."};

/// The table of positions has this many more rows than there are positions.
constexpr Index kFirstRow = 2;

void readOpt(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("ffn_dim");
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("num_attention_heads");
  config.headDim =
      families::evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.maxPositions = json.size("max_position_embeddings", 2048);
  config.positionRows = config.maxPositions + kFirstRow;
  config.firstPosition = kFirstRow;
  config.activation = families::readActivation(json, "activation_function", "relu");
  config.qkvBias = config.outputBias = config.mlpBias = json.flag("enable_bias", true);
  families::addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
  const bool before = json.flag("do_layer_norm_before", true);
  if (!before) config.order = BlockOrder::after;
  config.finalNorm = !json.flag("_remove_final_layer_norm", false) && before;
  config.normWeight = json.flag("layer_norm_elementwise_affine", true);
  const Index width = json.size("word_embed_proj_dim", config.modelDim);
  if (width != config.modelDim) config.embeddingDim = width;
}

}  // namespace

constinit const Family families::opt{
    .name = "opt",
    .architecture = "OPT",
    .prefixes = kOptPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "embed_tokens",
              .positions = "embed_positions",
              .embeddingMap = "project_in",
              .headMap = "project_out",
              .layer = "layers.N.",
              .q = "self_attn.q_proj",
              .k = "self_attn.k_proj",
              .v = "self_attn.v_proj",
              .o = "self_attn.out_proj",
              .up = "fc1",
              .down = "fc2",
              .attentionNorm = "self_attn_layer_norm",
              .mlpNorm = "final_layer_norm",
              .finalNorm = "final_layer_norm",
              .head = "lm_head"},
    .fields = {.read = "hidden_size ffn_dim vocab_size num_attention_heads num_hidden_layers "
                       "max_position_embeddings activation_function enable_bias _remove_final_layer_norm "
                       "do_layer_norm_before layer_norm_elementwise_affine word_embed_proj_dim",
               .ignored = "activation_dropout init_std",
               .base = &kSharedFields},
    .read = readOpt,
};

}  // namespace headscope::attention

#include "attention/core/positions.h"
#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// Bloom (Scao et al. 2022): positions only through ALiBi, and a norm on the embeddings.

namespace {

/// Names that Falcon shares, but for those of its norms.
constexpr TensorNames bloomNames(std::string_view attentionNorm, std::string_view mlpNorm) {
  return {.embedding = "word_embeddings",
          .layer = "h.N.",
          .qkv = "self_attention.query_key_value",
          .fused = FusedRows::heads,
          .o = "self_attention.dense",
          .up = "mlp.dense_h_to_4h",
          .down = "mlp.dense_4h_to_h",
          .attentionNorm = attentionNorm,
          .mlpNorm = mlpNorm,
          .finalNorm = "ln_f",
          .head = "lm_head"};
}

/// Reads a size that has two names; the first takes precedence.
Index sizeUnder(const ConfigReader& json, std::string_view first, std::string_view second,
                Index most = kMaxConfigSize) {
  static_cast<void>(json.has(second));  // known, even if the first is there
  return json.size(json.has(first) ? first : second, {}, 1, most);
}

}  // namespace

constinit const Family bloom{
    .name = "bloom",
    .architecture = "Bloom",
    .prefixes = kTransformerPrefixes,
    .names = changed(bloomNames("input_layernorm", "post_attention_layernorm"),
                     [](TensorNames& names) { names.embeddingNorm = "word_embeddings_layernorm"; }),
    .fields = {.ignored = "hidden_dropout slow_but_exact attention_softmax_in_fp32 bias_dropout_fusion "
                          "masked_softmax_fusion offset_alibi skip_bias_add skip_bias_add_qkv",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          config.modelDim = sizeUnder(json, "n_embed", "hidden_size");
          config.innerDim = json.size("n_inner", std::min(4 * config.modelDim, kMaxConfigSize));
          config.vocabulary = json.size("vocab_size");
          config.heads = config.kvHeads = sizeUnder(json, "num_attention_heads", "n_head");
          config.headDim = evenShare(json, "hidden_size", config.modelDim, "n_head", config.heads);
          config.maxPositions = json.size("seq_length", 2048, 1, kMaxPositions);
          config.activation = Activation::geluTanh;
          config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
          config.qkvBias = config.outputBias = config.mlpBias = true;
          config.alibi = true;
          if (json.flag("apply_residual_connection_post_layernorm", false)) config.order = BlockOrder::normed;
          addLayers(config, sizeUnder(json, "num_hidden_layers", "n_layer", kMaxLayers));
        },
};

// MPT (MosaicML 2023): positions only through ALiBi, and no biases.

constinit const Family mpt{
    .name = "mpt",
    .architecture = "Mpt",
    .prefixes = kTransformerPrefixes,
    .names = {.embedding = "wte",
              .layer = "blocks.N.",
              .qkv = "attn.Wqkv",
              .o = "attn.out_proj",
              .up = "ffn.up_proj",
              .down = "ffn.down_proj",
              .attentionNorm = "norm_1",
              .mlpNorm = "norm_2",
              .finalNorm = "norm_f",
              .head = "lm_head"},
    .fields = {.ignored = "emb_pdrop learned_pos_emb init_device verbose embedding_fraction norm_type "
                          "init_config tokenizer_name",
               .fixed = "no_bias=true logit_scale=null hidden_size=@d_model num_attention_heads=@n_heads "
                        "num_hidden_layers=@n_layers",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          config.modelDim = json.size("d_model", 2048);
          config.vocabulary = json.size("vocab_size", 50368);
          config.heads = config.kvHeads = json.size("n_heads", 16);
          config.headDim = evenShare(json, "d_model", config.modelDim, "n_heads", config.heads);
          addLayers(config, json.size("n_layers", 24, 1, kMaxLayers));
          config.innerDim =
              json.size("expansion_ratio", 4, 1, kMaxConfigSize / config.modelDim) * config.modelDim;
          config.maxPositions = json.size("max_seq_len", 2048, 1, kMaxPositions);
          config.activation = Activation::gelu;
          config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
          config.normBias = false;
          config.alibi = true;
          const ConfigReader attention = json.object("attn_config");
          for (const auto& [name, value] :
               {std::pair("alibi", "true"), std::pair("prefix_lm", "false"), std::pair("qk_ln", "false"),
                std::pair("attn_type", "\"multihead_attention\"")})
            attention.expect(name, value);
          if (const double most = attention.positive("alibi_bias_max", 8); most != 8)
            config.slopes = alibiSlopes(config.heads, most);
          if (const auto most = attention.optionalPositive("clip_qkv"))
            config.clip = static_cast<float>(*most);
          if (const auto scale = attention.optionalPositive("softmax_scale"))
            for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(*scale);
        },
};

// Falcon (Almazrouei et al. 2023). 7B: one kv head for all queries; attention and MLP read the same LayerNorm
// of the stream. 40B and 180B: kv heads that groups of queries share, and a norm for attention and one for
// the MLP, which 11B (2024) merges again. RW: attention, then MLP, positions through ALiBi, and biases.

namespace {

void readFalcon(const ConfigReader& json, ModelConfig& config);

constexpr Family falconWith(std::string_view attentionNorm, std::string_view mlpNorm) {
  return {.name = "falcon",
          .architecture = "Falcon",
          .prefixes = kTransformerPrefixes,
          .names = bloomNames(attentionNorm, mlpNorm),
          .fields =
              {.ignored =
                   "original_max_position_embeddings hidden_dropout apply_residual_connection_post_layernorm "
                   "rope_theta rope_scaling rope_parameters partial_rotary_factor",  // unless it rotates
               .fixed = "n_head=@num_attention_heads n_layer=@num_hidden_layers",
               .base = &kSharedFields},
          .read = readFalcon};
}

constexpr Family kSerial = falconWith("input_layernorm", "post_attention_layernorm");
constexpr Family kTwoNorms = falconWith("ln_attn", "ln_mlp");

/// Reads how heads share keys, and which parts read which norms.
void readShape(const ConfigReader& json, ModelConfig& config) {
  const bool grouped = json.flag("new_decoder_architecture", false),
             parallel = json.flag("parallel_attn", true);
  const Index kvHeads = json.size("num_kv_heads", config.heads);
  config.kvHeads = grouped ? kvHeads : json.flag("multi_query", true) ? 1 : config.heads;
  const Index norms = json.size("num_ln_in_parallel_attn", grouped ? 2 : 1, 1, 2);
  if (grouped && !parallel) json.refuse("parallel_attn", "false", "true, as new_decoder_architecture is");
  if (!grouped && norms == 2)
    json.refuse("num_ln_in_parallel_attn", "2", "1, as new_decoder_architecture is false");
  if (!parallel) config.family = &kSerial;
  if (grouped && norms == 2) config.family = &kTwoNorms;
  config.order = parallel ? BlockOrder::parallel : BlockOrder::before;
}

void readFalcon(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.usualWidth = 4544, .usualHeads = 71, .usualLayers = 32, .vocabulary = 65024}, config);
  config.innerDim = json.size("ffn_hidden_size", std::min(4 * config.modelDim, kMaxConfigSize));
  config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
  config.activation = readActivation(json, "activation", "gelu");
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.qkvBias = config.outputBias = config.mlpBias = json.flag("bias", false);
  readShape(json, config);
  config.alibi = json.flag("alibi", false);
  if (!config.alibi) return readRotation(json, {}, config);
  // Scores are scaled after ALiBi is added. transformers' slopes are also rounded to BF16.
  config.notes.emplace_back(
      "ALiBi is added once, as transformers' default attention does; its eager attention adds it twice.");
  config.slopes = alibiSlopes(config.heads);
  for (float& slope : config.slopes) slope *= config.layers[0].scale;
}

}  // namespace

constinit const Family falcon = falconWith("input_layernorm", "input_layernorm");

}  // namespace headscope::attention::families

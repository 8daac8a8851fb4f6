#include <cmath>

#include "attention/models/families/fields.h"

// BART (Lewis et al. 2020) and the decoder of Whisper (Radford et al. 2023), whose parts have the same names:
// learned positions, LayerNorms with biases; after each part in BART, before it in Whisper.

namespace headscope::attention {
namespace {

constexpr std::string_view kBartEncoderPrefixes[] = {"model.encoder.", "encoder.", "model.", ""};
constexpr std::string_view kBartDecoderPrefixes[] = {"model.decoder.", "decoder.", "model.", ""};

constexpr TensorNames kBartEncoderNames{.embedding = "shared",
                                        .ownEmbedding = "embed_tokens",
                                        .otherEmbedding = "decoder.embed_tokens",
                                        .positions = "embed_positions",
                                        .embeddingNorm = "layernorm_embedding",
                                        .layer = "layers.N.",
                                        .q = "self_attn.q_proj",
                                        .k = "self_attn.k_proj",
                                        .v = "self_attn.v_proj",
                                        .o = "self_attn.out_proj",
                                        .up = "fc1",
                                        .down = "fc2",
                                        .attentionNorm = "self_attn_layer_norm",
                                        .mlpNorm = "final_layer_norm",
                                        .head = "lm_head"};

constexpr TensorNames kBartDecoderNames = [] {
  TensorNames names = kBartEncoderNames;
  names.otherEmbedding = "encoder.embed_tokens";
  names.crossQ = "encoder_attn.q_proj";
  names.crossK = "encoder_attn.k_proj";
  names.crossV = "encoder_attn.v_proj";
  names.crossO = "encoder_attn.out_proj";
  names.crossNorm = "encoder_attn_layer_norm";
  names.logitBias = "final_logits_bias";
  return names;
}();

constexpr TensorNames kWhisperNames = [] {
  TensorNames names = kBartDecoderNames;
  names.embedding = "embed_tokens";
  names.ownEmbedding = names.otherEmbedding = {};
  names.embeddingNorm = {};
  names.finalNorm = "layer_norm";
  names.head = "proj_out";
  names.logitBias = {};
  names.keyBias = false;
  return names;
}();

void readStack(const ConfigReader& json, std::string_view heads, std::string_view inner,
               std::string_view layers, ModelConfig& config) {
  config.modelDim = json.size("d_model");
  config.heads = config.kvHeads = json.size(heads);
  config.innerDim = json.size(inner);
  config.headDim = families::evenShare(json, "d_model", config.modelDim, heads, config.heads);
  config.activation = families::readActivation(json, "activation_function", "gelu");
  config.qkvBias = config.outputBias = config.mlpBias = true;
  families::addLayers(config, json.size(layers, {}, 1, kMaxLayers));
}

void readBart(const ConfigReader& json, ModelConfig& config) {
  const bool decodes = config.group != HeadGroup::encoder;
  constexpr Index kFirstRow = 2;  // of the table of positions (BartLearnedPositionalEmbedding)
  config.vocabulary = json.size("vocab_size", 50265);
  // Both stacks, so that an invalid file is refused whichever heads are requested; the last one read is kept.
  for (const bool decoder : {!decodes, decodes})
    if (decoder)
      readStack(json, "decoder_attention_heads", "decoder_ffn_dim", "decoder_layers", config);
    else
      readStack(json, "encoder_attention_heads", "encoder_ffn_dim", "encoder_layers", config);
  if (json.flag("scale_embedding", false))
    config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
  config.causal = decodes;
  config.order = BlockOrder::after;
  config.maxPositions = json.size("max_position_embeddings", 1024, 1, kMaxPositions - kFirstRow);
  config.positionRows = config.maxPositions + kFirstRow;
  config.firstPosition = kFirstRow;
  families::readStartToken(json, 2, config);
}

void readWhisper(const ConfigReader& json, ModelConfig& config) {
  config.vocabulary = json.size("vocab_size", 51865);
  readStack(json, "decoder_attention_heads", "decoder_ffn_dim", "decoder_layers", config);
  config.maxPositions = config.positionRows = json.size("max_target_positions", 448, 1, kMaxPositions);
  families::readStartToken(json, 50257, config);
}

constexpr ConfigFields kBartFields{
    .read =
        "vocab_size d_model encoder_layers decoder_layers encoder_attention_heads "
        "decoder_attention_heads encoder_ffn_dim decoder_ffn_dim max_position_embeddings "
        "activation_function scale_embedding decoder_start_token_id",
    .ignored =
        "num_hidden_layers encoder_layerdrop decoder_layerdrop activation_dropout init_std "
        "classif_dropout extra_pos_embeddings gradient_checkpointing add_bias_logits "
        "force_bos_token_to_be_generated",
    // Other values are for the fairseq variants that mBART, Pegasus and Marian build on.
    .fixed =
        "normalize_before=false normalize_embedding=true add_final_layer_norm=false "
        "static_position_embeddings=false",
    .base = &kSharedFields};

constexpr Family kBartEncoder{.name = "bart",
                              .architecture = "Bart",
                              .prefixes = kBartEncoderPrefixes,
                              .headPrefixes = families::kNoPrefix,
                              .names = kBartEncoderNames,
                              .encoder = true,
                              .fields = kBartFields,
                              .read = readBart};

}  // namespace

constinit const Family families::bart{.name = "bart",
                                      .architecture = "Bart",
                                      .prefixes = kBartDecoderPrefixes,
                                      .headPrefixes = kNoPrefix,
                                      .names = kBartDecoderNames,
                                      .reads = true,
                                      .source = &kBartEncoder,
                                      .fields = kBartFields,
                                      .read = readBart};

constinit const Family families::whisper{
    .name = "whisper",
    .architecture = "Whisper",
    .prefixes = kBartDecoderPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kWhisperNames,
    .reads = true,
    .fields = {.read = "vocab_size d_model decoder_layers decoder_attention_heads decoder_ffn_dim "
                       "max_target_positions activation_function decoder_start_token_id",
               // The encoder isn't computed: its output is supplied. WhisperDecoder of transformers reads
               // scale_embedding and doesn't apply it.
               .ignored =
                   "scale_embedding num_mel_bins encoder_layers encoder_attention_heads encoder_ffn_dim "
                   "num_hidden_layers encoder_layerdrop decoder_layerdrop activation_dropout init_std "
                   "max_source_positions use_weighted_layer_sum classifier_proj_size apply_spec_augment "
                   "mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob "
                   "mask_feature_length mask_feature_min_masks median_filter_width "
                   "forced_decoder_ids",
               .base = &kSharedFields},
    .read = readWhisper,
};

}  // namespace headscope::attention

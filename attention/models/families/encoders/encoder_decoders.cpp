#include <cmath>

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// BART (Lewis et al. 2020) and the decoder of Whisper (Radford et al. 2023), whose parts have the same names:
// learned positions, LayerNorms with biases; after each part in BART, before it in Whisper.

namespace {

/// The decoder that reads the output of `encoder`, with the same fields.
constexpr Family decoderOf(const Family& encoder, std::span<const std::string_view> prefixes,
                           const TensorNames& names) {
  Family family = encoder;
  family.prefixes = prefixes;
  family.names = names;
  family.encoder = false;
  family.reads = true;
  family.source = &encoder;
  return family;
}

constexpr std::string_view kBartEncoderPrefixes[] = {"model.encoder.", "encoder.", "model.", ""};
constexpr std::string_view kBartDecoderPrefixes[] = {"model.decoder.", "decoder.", "model.", ""};

/// How BART's descendants differ from it, and the values of missing fields.
struct BartKind {
  std::string_view name = {}, architecture = {};
  Index vocabulary = 50265, positions = 1024, start = 2;
  bool before = false;           ///< norms come before each part and after the last
  bool normedEmbedding = true;   ///< there is a norm of the embeddings
  Index firstRow = 2;            ///< of the table of positions
  Index sinusoidsFrom = -1;      ///< instead of a table: d/2 minus this many steps
  bool scaledEmbedding = false;  ///< by √d
  std::string_view activation = "gelu";
};

constexpr TensorNames encoderNames(const BartKind& kind) {
  TensorNames names = kOptNames;
  names.embedding = "shared";
  names.ownEmbedding = "embed_tokens";
  names.otherEmbedding = "decoder.embed_tokens";
  names.positions = "embed_positions";
  if (kind.normedEmbedding) names.embeddingNorm = "layernorm_embedding";
  if (!kind.before) names.finalNorm = {};
  return names;
}

constexpr TensorNames decoderNames(const BartKind& kind) {
  TensorNames names = encoderNames(kind);
  names.otherEmbedding = "encoder.embed_tokens";
  names.crossQ = "encoder_attn.q_proj";
  names.crossK = "encoder_attn.k_proj";
  names.crossV = "encoder_attn.v_proj";
  names.crossO = "encoder_attn.out_proj";
  names.crossNorm = "encoder_attn_layer_norm";
  names.logitBias = "final_logits_bias";
  return names;
}

/// Reads the sizes of the "encoder" or "decoder".
void readStack(const ConfigReader& json, const std::string& stack, Index vocabulary, ModelConfig& config) {
  const std::string heads = stack + "_attention_heads", layers = stack + "_layers";
  readSizes(json, {.width = "d_model", .heads = heads, .layers = layers, .vocabulary = vocabulary}, config);
  config.innerDim = json.size(stack + "_ffn_dim");
  config.activation = readActivation(json, "activation_function", "gelu");
  config.qkvBias = config.outputBias = config.mlpBias = true;
}

template <const BartKind& kind>
void readBart(const ConfigReader& json, ModelConfig& config) {
  const bool decodes = config.group != HeadGroup::encoder;
  // Both stacks, so that an invalid file is refused whichever heads are requested; the last one read is kept.
  for (const bool decoder : {!decodes, decodes})
    readStack(json, decoder ? "decoder" : "encoder", kind.vocabulary, config);
  config.activation = readActivation(json, "activation_function", kind.activation);
  if (json.flag("scale_embedding", kind.scaledEmbedding))
    config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
  config.causal = decodes;
  config.order = kind.before ? BlockOrder::before : BlockOrder::after;
  config.maxPositions =
      json.size("max_position_embeddings", kind.positions, 1, kMaxPositions - kind.firstRow);
  config.firstPosition = kind.firstRow;
  if (kind.sinusoidsFrom >= 0)
    config.sinusoidSteps = std::max<Index>(config.modelDim / 2 - kind.sinusoidsFrom, 1);
  else
    config.positionRows = config.maxPositions + kind.firstRow;
  readStartToken(json, std::min(kind.start, config.vocabulary - 1), config);
}

constexpr ConfigFields kBartFields{
    .ignored =
        "num_hidden_layers encoder_layerdrop decoder_layerdrop activation_dropout init_std "
        "classif_dropout extra_pos_embeddings gradient_checkpointing add_bias_logits "
        "force_bos_token_to_be_generated",
    // Other values are for the fairseq variants that mBART, Pegasus and Marian build on.
    .fixed =
        "normalize_before=false normalize_embedding=true add_final_layer_norm=false "
        "static_position_embeddings=false",
    .base = &kSharedFields};

/// Their classes in transformers don't read what BART's files say about norms and positions.
constexpr ConfigFields kBartDescendantFields{
    .ignored =
        "num_hidden_layers encoder_layerdrop decoder_layerdrop activation_dropout init_std "
        "classif_dropout extra_pos_embeddings gradient_checkpointing add_bias_logits "
        "force_bos_token_to_be_generated normalize_before normalize_embedding add_final_layer_norm "
        "static_position_embeddings layernorm_variant classifier_dropout max_length_generation "
        "extra_layer_norm do_blenderbot_90_layernorm save_step unk_token_id prompt_length prompt_mid_dim",
    .fixed = "share_encoder_decoder_embeddings=true decoder_vocab_size=@vocab_size use_prompt=false",
    .base = &kSharedFields};

template <const BartKind& kind>
constexpr Family kBartEncoder{.name = kind.name,
                              .architecture = kind.architecture,
                              .prefixes = kBartEncoderPrefixes,
                              .names = encoderNames(kind),
                              .encoder = true,
                              .fields = kind.name == "bart" ? kBartFields : kBartDescendantFields,
                              .read = readBart<kind>};

template <const BartKind& kind>
constexpr Family bartPair() {
  return decoderOf(kBartEncoder<kind>, kBartDecoderPrefixes, decoderNames(kind));
}

constexpr BartKind kBart{.name = "bart", .architecture = "Bart"};
// PLBART (Ahmad et al. 2021), for programs, and MVP (Tang et al. 2022): BART.
constexpr BartKind kPlBart{
    .name = "plbart", .architecture = "PLBart", .vocabulary = 50005, .scaledEmbedding = true};
constexpr BartKind kMvp{.name = "mvp", .architecture = "Mvp", .vocabulary = 50267};
// mBART (Liu et al. 2020): norms before each part.
constexpr BartKind kMBart{.name = "mbart", .architecture = "MBart", .before = true};
// BlenderBot (Roller et al. 2021): also without a norm of the embeddings.
constexpr BartKind kBlenderbot{.name = "blenderbot",
                               .architecture = "Blenderbot",
                               .vocabulary = 8008,
                               .positions = 128,
                               .start = 1,
                               .before = true,
                               .normedEmbedding = false,
                               .firstRow = 0};
// Marian and OPUS-MT (Junczys-Dowmunt et al. 2018; Tiedemann & Thottingal 2020): BART with sines and cosines.
constexpr BartKind kMarian{.name = "marian",
                           .architecture = "Marian",
                           .vocabulary = 58101,
                           .start = 58100,
                           .normedEmbedding = false,
                           .firstRow = 0,
                           .sinusoidsFrom = 0};
// Pegasus (Zhang et al. 2020): with sines and cosines, and norms before each part.
constexpr BartKind kPegasus{.name = "pegasus",
                            .architecture = "Pegasus",
                            .start = 0,
                            .before = true,
                            .normedEmbedding = false,
                            .firstRow = 0,
                            .sinusoidsFrom = 0};
// M2M-100 and NLLB (Fan et al. 2021; NLLB Team 2022): the same with other frequencies.
constexpr BartKind kM2M100{.name = "m2m_100",
                           .architecture = "M2M100",
                           .vocabulary = 128112,
                           .before = true,
                           .normedEmbedding = false,
                           .sinusoidsFrom = 1,
                           .scaledEmbedding = true,
                           .activation = "relu"};

constexpr Family kBartDescendants[] = {bartPair<kBart>(),    bartPair<kPlBart>(),     bartPair<kMvp>(),
                                       bartPair<kMBart>(),   bartPair<kBlenderbot>(), bartPair<kMarian>(),
                                       bartPair<kPegasus>(), bartPair<kM2M100>()};

}  // namespace

std::span<const Family> bartDescendants() {
  return kBartDescendants;
}

constinit const Family whisper{
    .name = "whisper",
    .architecture = "Whisper",
    .prefixes = kBartDecoderPrefixes,
    .names = changed(decoderNames({.before = true, .normedEmbedding = false}),
                     [](TensorNames& names) {
                       names.embedding = "embed_tokens";
                       names.ownEmbedding = names.otherEmbedding = {};
                       names.head = "proj_out";
                       names.logitBias = {};
                       names.keyBias = false;
                     }),
    .reads = true,
    .fields =
        {// The encoder isn't computed: its output is supplied. WhisperDecoder of transformers reads
         // scale_embedding and doesn't apply it.
         .ignored = "scale_embedding num_mel_bins encoder_layers encoder_attention_heads encoder_ffn_dim "
                    "num_hidden_layers encoder_layerdrop decoder_layerdrop activation_dropout init_std "
                    "max_source_positions use_weighted_layer_sum classifier_proj_size apply_spec_augment "
                    "mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob "
                    "mask_feature_length mask_feature_min_masks median_filter_width "
                    "forced_decoder_ids",
         .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readStack(json, "decoder", 51865, config);
          config.maxPositions = config.positionRows =
              json.size("max_target_positions", 448, 1, kMaxPositions);
          readStartToken(json, 50257, config);
        },
};

// T5 (Raffel et al. 2020), its version 1.1 and mT5: an encoder and a decoder without absolute positions,
// whose scores aren't scaled and whose distance biases from the first layer are added in all layers.

namespace {

constexpr std::string_view kT5EncoderPrefixes[] = {"encoder.", ""};
constexpr std::string_view kT5DecoderPrefixes[] = {"decoder.", ""};

constexpr TensorNames kT5EncoderNames{.embedding = "shared",
                                      .ownEmbedding = "embed_tokens",
                                      .otherEmbedding = "decoder.embed_tokens",
                                      .layer = "block.N.layer.",
                                      .q = "0.SelfAttention.q",
                                      .k = "0.SelfAttention.k",
                                      .v = "0.SelfAttention.v",
                                      .o = "0.SelfAttention.o",
                                      .bucketBias = "block.0.layer.0.SelfAttention.relative_attention_bias",
                                      .up = "1.DenseReluDense.wi_1",
                                      .down = "1.DenseReluDense.wo",
                                      .gate = "1.DenseReluDense.wi_0",
                                      .ungatedUp = "1.DenseReluDense.wi",
                                      .attentionNorm = "0.layer_norm",
                                      .mlpNorm = "1.layer_norm",
                                      .finalNorm = "final_layer_norm",
                                      .head = "lm_head"};

constexpr TensorNames t5DecoderNames() {
  TensorNames names = kT5EncoderNames;
  names.otherEmbedding = "encoder.embed_tokens";
  names.crossQ = "1.EncDecAttention.q";
  names.crossK = "1.EncDecAttention.k";
  names.crossV = "1.EncDecAttention.v";
  names.crossO = "1.EncDecAttention.o";
  names.crossNorm = "1.layer_norm";
  names.up = "2.DenseReluDense.wi_1";
  names.down = "2.DenseReluDense.wo";
  names.gate = "2.DenseReluDense.wi_0";
  names.ungatedUp = "2.DenseReluDense.wi";
  names.mlpNorm = "2.layer_norm";
  return names;
}

/// The differences between T5 and mT5.
struct T5Defaults {
  std::string_view feedForward;
  Index vocabulary, innerDim, layers, heads;
  bool scales;  ///< the stream can be scaled down before a head that shares the embedding's rows
};

void readFeedForward(const ConfigReader& json, const T5Defaults& defaults, ModelConfig& config) {
  const std::string said = json.text("feed_forward_proj", defaults.feedForward);
  constexpr std::string_view kGated = "gated-";
  config.gated = json.flag("is_gated_act", said.starts_with(kGated));
  const std::string act = config.gated && said.starts_with(kGated) ? said.substr(kGated.size()) : said;
  // "gated-gelu" has always meant the tanh approximation (T5Config).
  const std::string defaultValue = said == "gated-gelu" ? "gelu_new" : act;
  const std::string_view key = json.has("dense_act_fn") ? "dense_act_fn" : "feed_forward_proj";
  if (json.has("dense_act_fn") || act == said)
    config.activation = readActivation(json, key, defaultValue);
  else if (act == "gelu")
    config.activation = Activation::geluTanh;
  else if (act == "silu" || act == "swish")
    config.activation = Activation::silu;
  else if (act == "relu")
    config.activation = Activation::relu;
  else
    json.refuse("feed_forward_proj", "\"" + said + "\"", "gated-gelu, gated-silu or gated-relu");
}

void readT5Fields(const ConfigReader& json, const T5Defaults& defaults, ModelConfig& config) {
  config.modelDim = json.size("d_model", 512);
  config.innerDim = json.size("d_ff", defaults.innerDim);
  config.vocabulary = json.size("vocab_size", defaults.vocabulary);
  config.heads = config.kvHeads = json.size("num_heads", defaults.heads);
  config.headDim = json.size("d_kv", 64);
  config.norm = NormKind::rms;
  config.epsilon = json.positive("layer_norm_epsilon", 1e-6);
  readFeedForward(json, defaults, config);
  const bool decodes = config.group != HeadGroup::encoder;
  config.causal = decodes;
  const Index layers = json.size("num_layers", defaults.layers, 1, kMaxLayers);
  const Index decoderLayers = json.size("num_decoder_layers", layers, 1, kMaxLayers);
  config.layers.assign(asSize(decodes ? decoderLayers : layers), LayerKind{});
  BucketBias& bias = config.bucketBias.emplace();
  bias.buckets = json.size("relative_attention_num_buckets", 32);
  bias.maxDistance = json.size("relative_attention_max_distance", 128, 1, kMaxPositions);
  bias.bidirectional = !decodes;
  readStartToken(json, json.size("pad_token_id", 0, 0), config);
  const bool tied = json.flag("tie_word_embeddings", config.family->tied);
  const bool scales = json.flag("scale_decoder_outputs", tied && defaults.scales);
  if (scales && !defaults.scales)
    config.notes.emplace_back("config.json's scale_decoder_outputs is ignored, as in transformers.");
  else if (scales)
    config.logitScale = static_cast<float>(1 / std::sqrt(static_cast<double>(config.modelDim)));
}

void readT5(const ConfigReader& json, ModelConfig& config) {
  readT5Fields(json, {"relu", 32128, 2048, 6, 8, true}, config);
}

void readMt5(const ConfigReader& json, ModelConfig& config) {
  // transformers 5 never scales an mT5's stream.
  readT5Fields(json, {"gated-gelu", 250112, 1024, 8, 6, false}, config);
}

constexpr ConfigFields kT5Fields{.ignored = "dropout_rate initializer_factor n_positions output_past",
                                 .base = &kSharedFields};

void readUmt5(const ConfigReader& json, ModelConfig& config) {
  readT5Fields(json, {"gated-gelu", 250112, 1024, 8, 6, true}, config);
}

constexpr Family encoderOf(std::string_view name, std::string_view architecture, bool tied,
                           void (*read)(const ConfigReader&, ModelConfig&)) {
  return {.name = name,
          .architecture = architecture,
          .prefixes = kT5EncoderPrefixes,
          .names = kT5EncoderNames,
          .encoder = true,
          .tied = tied,
          .fields = kT5Fields,
          .read = read};
}

constexpr Family kT5Encoder = encoderOf("t5", "T5", true, readT5);
constexpr Family kMt5Encoder = encoderOf("mt5", "MT5", true, readMt5);

/// Each layer has its own table of distance biases.
constexpr TensorNames withOwnBuckets(TensorNames names) {
  names.bucketBias = "block.N.layer.0.SelfAttention.relative_attention_bias";
  return names;
}
constexpr Family kUmt5Encoder = [] {
  Family family = encoderOf("umt5", "UMT5", true, readUmt5);
  family.names = withOwnBuckets(family.names);
  return family;
}();

}  // namespace

constinit const Family t5 = decoderOf(kT5Encoder, kT5DecoderPrefixes, t5DecoderNames());
constinit const Family mt5 = decoderOf(kMt5Encoder, kT5DecoderPrefixes, t5DecoderNames());
// UMT5 (Chung et al. 2023).
constinit const Family umt5 = decoderOf(kUmt5Encoder, kT5DecoderPrefixes, withOwnBuckets(t5DecoderNames()));

}  // namespace headscope::attention::families

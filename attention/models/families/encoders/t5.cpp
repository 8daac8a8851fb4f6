#include <cmath>

#include "attention/models/families/fields.h"

// T5 (Raffel et al. 2020), its version 1.1 and mT5: an encoder and a decoder without absolute positions,
// whose scores aren't scaled and whose distance biases from the first layer are added in all layers.

namespace headscope::attention {
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
    config.activation = families::readActivation(json, key, defaultValue);
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
  families::readStartToken(json, json.size("pad_token_id", 0, 0), config);
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

constexpr ConfigFields kT5Fields{
    .read =
        "vocab_size d_model d_kv d_ff num_layers num_decoder_layers num_heads "
        "relative_attention_num_buckets relative_attention_max_distance layer_norm_epsilon "
        "feed_forward_proj dense_act_fn is_gated_act decoder_start_token_id pad_token_id "
        "scale_decoder_outputs",
    .ignored = "dropout_rate initializer_factor n_positions output_past",
    .base = &kSharedFields};

constexpr Family encoderOf(std::string_view name, std::string_view architecture, bool tied,
                           void (*read)(const ConfigReader&, ModelConfig&)) {
  return {.name = name,
          .architecture = architecture,
          .prefixes = kT5EncoderPrefixes,
          .headPrefixes = families::kNoPrefix,
          .names = kT5EncoderNames,
          .encoder = true,
          .tied = tied,
          .fields = kT5Fields,
          .read = read};
}

constexpr Family kT5Encoder = encoderOf("t5", "T5", true, readT5);
constexpr Family kMt5Encoder = encoderOf("mt5", "MT5", true, readMt5);

constexpr Family decoderOf(const Family& encoder) {
  Family family = encoder;
  family.prefixes = kT5DecoderPrefixes;
  family.names = t5DecoderNames();
  family.encoder = false;
  family.reads = true;
  family.source = &encoder;
  return family;
}

}  // namespace

constinit const Family families::t5 = decoderOf(kT5Encoder);
constinit const Family families::mt5 = decoderOf(kMt5Encoder);

}  // namespace headscope::attention

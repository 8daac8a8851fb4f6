#include <algorithm>

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

/// Reads what BERT and RoBERTa share: no causal mask unless it is a decoder, LayerNorm after each part,
/// learned positions from row `firstPosition` on, and token types.
void readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config);
extern const ConfigFields kBertFields;

inline constexpr TensorNames kBertNames{.embedding = "embeddings.word_embeddings",
                                        .positions = "embeddings.position_embeddings",
                                        .tokenTypes = "embeddings.token_type_embeddings",
                                        .embeddingNorm = "embeddings.LayerNorm",
                                        .layer = "encoder.layer.N.",
                                        .q = "attention.self.query",
                                        .k = "attention.self.key",
                                        .v = "attention.self.value",
                                        .o = "attention.output.dense",
                                        .up = "intermediate.dense",
                                        .down = "output.dense",
                                        .attentionNorm = "attention.output.LayerNorm",
                                        .mlpNorm = "output.LayerNorm",
                                        .head = "cls.predictions.decoder",
                                        .headDense = "cls.predictions.transform.dense",
                                        .headNorm = "cls.predictions.transform.LayerNorm",
                                        .headBias = "cls.predictions.bias"};

}  // namespace headscope::attention::families

namespace headscope::attention {

void families::readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size");
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("num_attention_heads");
  config.headDim = evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.positionRows = json.size("max_position_embeddings", {}, firstPosition + 1);
  config.firstPosition = firstPosition;
  config.maxPositions = config.positionRows - firstPosition;
  config.tokenTypes = json.size("type_vocab_size", 2);
  config.activation = readActivation(json, "hidden_act", "gelu");
  config.epsilon = json.positive("layer_norm_eps", 1e-12);
  config.order = BlockOrder::after;
  config.causal = json.flag("is_decoder", false);
  config.qkvBias = config.outputBias = config.mlpBias = true;
  addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
}

constinit const ConfigFields families::kBertFields{
    .read =
        "hidden_size intermediate_size vocab_size num_attention_heads num_hidden_layers "
        "max_position_embeddings type_vocab_size hidden_act layer_norm_eps is_decoder",
    .ignored =
        "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers "
        "pooler_size_per_head pooler_type output_past embedding_size",
    .fixed = R"(position_embedding_type="absolute")",
    .base = &kSharedFields,
};

namespace {

// BERT (Devlin et al. 2019).
constexpr std::string_view kBertPrefixes[] = {"bert.", ""};

}  // namespace

constinit const Family families::bert{
    .name = "bert",
    .architecture = "Bert",
    .prefixes = kBertPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kBertNames,
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read = [](const ConfigReader& json, ModelConfig& config) { readBertFields(json, 0, config); },
};

// RoBERTa (Liu et al. 2019): BERT whose positions begin after that of the padding token.

namespace {

constexpr std::string_view kRobertaPrefixes[] = {"roberta.", ""};

constexpr TensorNames withHead(TensorNames names) {
  names.head = "lm_head.decoder";
  names.headDense = "lm_head.dense";
  names.headNorm = "lm_head.layer_norm";
  names.headBias = "lm_head.bias";
  return names;
}

void readRoberta(const ConfigReader& json, ModelConfig& config) {
  // Padding takes no position; it has the row before the first position's (create_position_ids_from_input_ids
  // of transformers).
  const Index pad = json.size("pad_token_id", 1, 0);
  families::readBertFields(json, pad + 1, config);
  config.padToken = pad;
  // Its head ignores hidden_act (RobertaLMHead).
  config.headActivation = Activation::gelu;
}

constexpr Family kRoberta{
    .name = "roberta",
    .architecture = "Roberta",
    .prefixes = kRobertaPrefixes,
    .headPrefixes = families::kNoPrefix,
    .names = withHead(families::kBertNames),
    .encoder = true,
    .fields = {.read = "pad_token_id", .base = &families::kBertFields},
    .read = readRoberta,
};

constexpr Family named(Family family, std::string_view name, std::string_view architecture) {
  family.name = name;
  family.architecture = architecture;
  return family;
}

}  // namespace

constinit const Family families::roberta = kRoberta;

// XLM-R (Conneau et al. 2020): RoBERTa with a vocabulary for a hundred languages.
constinit const Family families::xlmRoberta = named(kRoberta, "xlm-roberta", "XLMRoberta");

// DistilBERT (Sanh et al. 2019): BERT without token types and with other names.

namespace {

constexpr std::string_view kDistilbertPrefixes[] = {"distilbert.", ""};

void readDistilbert(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("dim");
  config.innerDim = json.size("hidden_dim");
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("n_heads");
  config.headDim = families::evenShare(json, "dim", config.modelDim, "n_heads", config.heads);
  config.positionRows = config.maxPositions = json.size("max_position_embeddings", 512);
  config.activation = families::readActivation(json, "activation", "gelu");
  config.epsilon = 1e-12;  // not in config.json
  config.order = BlockOrder::after;
  config.causal = false;
  config.qkvBias = config.outputBias = config.mlpBias = true;
  families::addLayers(config, json.size("n_layers", {}, 1, kMaxLayers));
}

}  // namespace

constinit const Family families::distilbert{
    .name = "distilbert",
    .architecture = "DistilBert",
    .prefixes = kDistilbertPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "embeddings.word_embeddings",
              .positions = "embeddings.position_embeddings",
              .embeddingNorm = "embeddings.LayerNorm",
              .layer = "transformer.layer.N.",
              .q = "attention.q_lin",
              .k = "attention.k_lin",
              .v = "attention.v_lin",
              .o = "attention.out_lin",
              .up = "ffn.lin1",
              .down = "ffn.lin2",
              .attentionNorm = "sa_layer_norm",
              .mlpNorm = "output_layer_norm",
              .head = "vocab_projector",
              .headDense = "vocab_transform",
              .headNorm = "vocab_layer_norm",
              .headBias = "vocab_projector.bias"},
    .encoder = true,
    .fields = {.read = "dim hidden_dim vocab_size n_heads n_layers max_position_embeddings activation",
               .ignored = "sinusoidal_pos_embds qa_dropout seq_classif_dropout tie_weights_ output_past",
               .fixed = "hidden_size=@dim num_attention_heads=@n_heads num_hidden_layers=@n_layers",
               .base = &kSharedFields},
    .read = readDistilbert,
};

// ELECTRA (Clark et al. 2020): BERT with embeddings of another width, which are mapped to the model's. Most
// published checkpoints are the discriminator, which tells which tokens were replaced; the generator predicts
// tokens.

namespace {

constexpr std::string_view kElectraPrefixes[] = {"electra.", ""};

constexpr TensorNames kElectraNames = [] {
  TensorNames names = families::kBertNames;
  names.embeddingMap = "embeddings_project";
  names.head = "generator_lm_head";
  names.headDense = "generator_predictions.dense";
  names.headNorm = "generator_predictions.LayerNorm";
  names.headBias = "generator_lm_head.bias";
  return names;
}();

void readElectra(const ConfigReader& json, ModelConfig& config) {
  families::readBertFields(json, 0, config);
  const Index size = json.size("embedding_size", 128);
  if (size != config.modelDim) config.embeddingDim = size;
  // Its head ignores hidden_act (ElectraGeneratorPredictions).
  config.headActivation = Activation::gelu;
  if (const auto classes = json.texts("architectures");
      !classes.empty() && classes[0] == "ElectraForPreTraining")
    config.notes.emplace_back(
        "This is ELECTRA's discriminator: it tells which tokens were replaced, and predicts none.");
}

}  // namespace

constinit const Family families::electra{
    .name = "electra",
    .architecture = "Electra",
    .prefixes = kElectraPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kElectraNames,
    .encoder = true,
    .fields = {.read = "embedding_size",
               .ignored = "summary_activation summary_last_dropout summary_type summary_use_proj "
                          "generator_size",
               .base = &kBertFields},
    .read = readElectra,
};

// ModernBERT (Warner et al. 2024): an encoder with rotary positions, a gated MLP and no biases, in which one
// layer in three sees the whole text and the others a window to both sides.

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

#include <algorithm>

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

namespace {

constexpr std::string_view kDistilbertPrefixes[] = {"distilbert.", ""}, kElectraPrefixes[] = {"electra.", ""};

}  // namespace

void readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config) {
  readSizes(json, {}, config);
  config.innerDim = json.size("intermediate_size");
  config.positionRows = json.size("max_position_embeddings", {}, firstPosition + 1);
  config.firstPosition = firstPosition;
  config.maxPositions = config.positionRows - firstPosition;
  config.tokenTypes = json.size("type_vocab_size", 2);
  config.activation = readActivation(json, "hidden_act", "gelu");
  config.epsilon = json.positive("layer_norm_eps", 1e-12);
  config.order = BlockOrder::after;
  config.causal = json.flag("is_decoder", false);
  config.qkvBias = config.outputBias = config.mlpBias = true;
}

void readRobertaFields(const ConfigReader& json, ModelConfig& config) {
  // Padding takes no position; it has the row before the first position's
  // (create_position_ids_from_input_ids of transformers).
  const Index pad = json.size("pad_token_id", 1, 0);
  readBertFields(json, pad + 1, config);
  config.padToken = pad;
  // Its head ignores hidden_act (RobertaLMHead).
  config.headActivation = Activation::gelu;
}

constinit const ConfigFields kBertFields{
    .ignored =
        "directionality pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers "
        "pooler_size_per_head pooler_type output_past embedding_size",
    .fixed = R"(position_embedding_type="absolute")",
    .base = &kSharedFields,
};

// BERT (Devlin et al. 2019).

constinit const Family bert{
    .name = "bert",
    .architecture = "Bert",
    .prefixes = kBertPrefixes,
    .names = kBertNames,
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read = [](const ConfigReader& json, ModelConfig& config) { readBertFields(json, 0, config); },
};

// RoBERTa (Liu et al. 2019): BERT whose positions begin after that of the padding token.

constexpr Family kRoberta{
    .name = "roberta",
    .architecture = "Roberta",
    .prefixes = kRobertaPrefixes,
    .names = withRobertaHead(kBertNames),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read = readRobertaFields,
};
constinit const Family roberta = kRoberta;

// XLM-R (Conneau et al. 2020): RoBERTa with a vocabulary for a hundred languages.
constinit const Family xlmRoberta = [] {
  Family family = kRoberta;
  family.name = "xlm-roberta";
  family.architecture = "XLMRoberta";
  family.aliases = "camembert";
  return family;
}();

// DistilBERT (Sanh et al. 2019): BERT without token types and with other names.

constinit const Family distilbert{
    .name = "distilbert",
    .architecture = "DistilBert",
    .prefixes = kDistilbertPrefixes,
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
    .fields = {.ignored = "sinusoidal_pos_embds qa_dropout seq_classif_dropout tie_weights_ output_past",
               .fixed = "hidden_size=@dim num_attention_heads=@n_heads num_hidden_layers=@n_layers",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {.width = "dim", .heads = "n_heads", .layers = "n_layers"}, config);
          config.innerDim = json.size("hidden_dim");
          config.positionRows = config.maxPositions = json.size("max_position_embeddings", 512);
          config.activation = readActivation(json, "activation", "gelu");
          config.epsilon = 1e-12;  // not in config.json
          config.order = BlockOrder::after;
          config.causal = false;
          config.qkvBias = config.outputBias = config.mlpBias = true;
        },
};

// ELECTRA (Clark et al. 2020): BERT with embeddings of another width, which are mapped to the model's. Most
// published checkpoints are the discriminator, which tells which tokens were replaced; the generator predicts
// tokens.

constinit const Family electra{
    .name = "electra",
    .architecture = "Electra",
    .prefixes = kElectraPrefixes,
    .names = changed(kBertNames,
                     [](TensorNames& names) {
                       names.embeddingMap = "embeddings_project";
                       names.head = "generator_lm_head";
                       names.headDense = "generator_predictions.dense";
                       names.headNorm = "generator_predictions.LayerNorm";
                       names.headBias = "generator_lm_head.bias";
                     }),
    .encoder = true,
    .fields = {.ignored = "summary_activation summary_last_dropout summary_type summary_use_proj "
                          "generator_size",
               .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          ConfigReader file = json;
          file.addDefaults(R"({"hidden_size": 256, "intermediate_size": 1024, "num_attention_heads": 4})");
          readBertFields(json, 0, config);
          const Index size = json.size("embedding_size", 128);
          if (size != config.modelDim) config.embeddingDim = size;
          // Its head ignores hidden_act (ElectraGeneratorPredictions).
          config.headActivation = Activation::gelu;
          if (classOf(json) == "ElectraForPreTraining")
            config.notes.emplace_back(
                "This is ELECTRA's discriminator: it tells which tokens were replaced, and predicts none.");
        },
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
  config.rotations = {rotationOf(json, nested.object("full_attention"), global, {}, config),
                      rotationOf(json, nested.object("sliding_attention"), local, {}, config)};
  for (LayerKind& layer : config.layers) layer.rotation = layer.window ? 1 : 0;
}

}  // namespace

constinit const Family modernBert{
    .name = "modernbert",
    .architecture = "ModernBert",
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
    .fields = {.ignored = "classifier_dropout classifier_pooling embedding_dropout mlp_dropout "
                          "deterministic_flash_attn initializer_cutoff_factor position_embedding_type "
                          "reference_compile repad_logits_with_grad sparse_pred_ignore_index "
                          "sparse_prediction layer_norm_eps",
               .fixed = "decoder_bias=true",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {.usualWidth = 768, .usualHeads = 12, .usualLayers = 22, .vocabulary = 50368},
                    config);
          config.innerDim = json.size("intermediate_size", 1152);
          config.maxPositions = json.size("max_position_embeddings", 8192, 1, kMaxPositions);
          config.activation = readActivation(json, "hidden_activation", "gelu");
          config.headActivation = readActivation(json, "classifier_activation", "gelu");
          config.epsilon = json.positive("norm_eps", 1e-5);
          config.normBias = json.flag("norm_bias", false);
          config.qkvBias = config.outputBias = json.flag("attention_bias", false);
          config.mlpBias = json.flag("mlp_bias", false);
          config.headDenseBias = json.flag("classifier_bias", false);
          config.gated = true;
          config.causal = false;
          config.firstLayerNormed = false;  // the embedding's norm precedes it
          // Half of local_attention on each side.
          const Index window = json.size("local_attention", 128, 1, kMaxPositions) / 2 + 1;
          readWindows(
              json, window, [](Index layer, Index every) { return layer % every != 0; },
              json.size("global_attn_every_n_layers", 3, 1, kMaxLayers), config);
          readBothRotations(json, config);
        },
};

}  // namespace headscope::attention::families

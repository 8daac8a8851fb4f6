#include "attention/models/families/fields.h"

// DistilBERT (Sanh et al. 2019): BERT without token types and with other names.

namespace headscope::attention {
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

}  // namespace headscope::attention

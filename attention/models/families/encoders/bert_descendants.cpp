#include "attention/models/families/fields.h"

// Encoders with BERT's embeddings and a head like its own.

namespace headscope::attention::families {
namespace {

constexpr std::string_view kAlbertPrefixes[] = {"albert.", ""}, kMpNetPrefixes[] = {"mpnet.", ""},
                           kData2VecPrefixes[] = {"data2vec_text.", ""},
                           kPreLayerNormPrefixes[] = {"roberta_prelayernorm.", ""},
                           kErniePrefixes[] = {"ernie.", ""}, kRoFormerPrefixes[] = {"roformer.", ""},
                           kEsmPrefixes[] = {"esm.", ""}, kNomicPrefixes[] = {"nomic_bert.", ""},
                           kDprPrefixes[] = {"question_encoder.bert_model.", "ctx_encoder.bert_model.",
                                             "span_predictor.encoder.bert_model."};

/// Norms before each part and after the last.
void normBefore(ModelConfig& config) {
  config.order = BlockOrder::before;
}

void rotate(const ConfigReader& json, bool interleaved, double theta, ModelConfig& config) {
  config.positionRows = config.firstPosition = 0;
  config.maxPositions = json.size("max_position_embeddings", 512, 1, kMaxPositions);
  config.padToken.reset();
  readRotation(json, {.theta = theta}, config);
  config.rotations[0].interleaved = interleaved;
}

// data2vec (Baevski et al. 2022): RoBERTa, trained otherwise.
constexpr Family kData2Vec{
    .name = "data2vec-text",
    .architecture = "Data2VecText",
    .prefixes = kData2VecPrefixes,
    .names = withRobertaHead(kBertNames),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read = readRobertaFields,
};

// RoBERTa with norms before each part (Ott et al. 2019, fairseq).
constexpr Family kPreLayerNorm{
    .name = "roberta-prelayernorm",
    .architecture = "RobertaPreLayerNorm",
    .prefixes = kPreLayerNormPrefixes,
    .names = changed(withRobertaHead(kBertNames),
                     [](TensorNames& names) {
                       names.attentionNorm = "attention.LayerNorm";
                       names.mlpNorm = "intermediate.LayerNorm";
                       names.finalNorm = "LayerNorm";
                     }),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readRobertaFields(json, config);
          normBefore(config);
        },
};

// XLM-R XL (Goyal et al. 2021): the same without a norm of the embeddings.
constexpr Family kXlmRobertaXl{
    .name = "xlm-roberta-xl",
    .architecture = "XLMRobertaXL",
    .prefixes = kRobertaPrefixes,
    .names = changed(withRobertaHead(kBertNames),
                     [](TensorNames& names) {
                       names.embeddingNorm = {};
                       names.attentionNorm = "attention.self_attn_layer_norm";
                       names.mlpNorm = "LayerNorm";
                       names.finalNorm = "encoder.LayerNorm";
                     }),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readRobertaFields(json, config);
          config.tokenTypes = json.size("type_vocab_size", 1);
          config.epsilon = json.positive("layer_norm_eps", 1e-5);
          normBefore(config);
        },
};

// Megatron-BERT (Shoeybi et al. 2019): BERT with norms before each part.
constexpr Family kMegatronBert{
    .name = "megatron-bert",
    .architecture = "MegatronBert",
    .prefixes = kBertPrefixes,
    .names = changed(kBertNames,
                     [](TensorNames& names) {
                       names.embeddingNorm = {};
                       names.attentionNorm = "attention.ln";
                       names.mlpNorm = "ln";
                       names.finalNorm = "encoder.ln";
                     }),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBertFields(json, 0, config);
          normBefore(config);
        },
};

// ERNIE 2 and 3 (Sun et al. 2020, 2021): BERT, in which tokens may also have the type of a task.
constexpr Family kErnie{
    .name = "ernie",
    .architecture = "Ernie",
    .prefixes = kErniePrefixes,
    .names =
        changed(kBertNames, [](TensorNames& names) { names.taskTypes = "embeddings.task_type_embeddings"; }),
    .encoder = true,
    .fields = {.ignored = "task_type_vocab_size", .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBertFields(json, 0, config);
          config.taskTypes = json.flag("use_task_id", false) ? json.size("task_type_vocab_size", 3) : 0;
        },
};

// DPR (Karpukhin et al. 2020): BERT as the encoder of questions or of passages.
constexpr Family kDpr{
    .name = "dpr",
    .architecture = "DPR",
    .prefixes = kDprPrefixes,
    .names = kBertNames,
    .encoder = true,
    .fields = {.ignored = "projection_dim", .base = &kBertFields},
    .read = [](const ConfigReader& json, ModelConfig& config) { readBertFields(json, 0, config); },
};

// ALBERT (Lan et al. 2020): BERT whose layers all have the same weights, with narrower embeddings.
constexpr Family kAlbert{
    .name = "albert",
    .architecture = "Albert",
    .prefixes = kAlbertPrefixes,
    .names = changed(kBertNames,
                     [](TensorNames& names) {
                       names.embeddingMap = "encoder.embedding_hidden_mapping_in";
                       names.layer = "encoder.albert_layer_groups.0.albert_layers.0.";
                       names.q = "attention.query";
                       names.k = "attention.key";
                       names.v = "attention.value";
                       names.o = "attention.dense";
                       names.up = "ffn";
                       names.down = "ffn_output";
                       names.attentionNorm = "attention.LayerNorm";
                       names.mlpNorm = "full_layer_layer_norm";
                       names.head = "predictions.decoder";
                       names.headDense = "predictions.dense";
                       names.headNorm = "predictions.LayerNorm";
                       names.headBias = "predictions.bias";
                     }),
    .encoder = true,
    .fields = {.ignored = "classifier_dropout_prob down_scale_factor gap_size net_structure_type "
                          "num_memory_blocks layers_to_keep",
               .fixed = "num_hidden_groups=1 inner_group_num=1",
               .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBertFields(json, 0, config);
          config.activation = readActivation(json, "hidden_act", "gelu_new");
          config.embeddingDim = json.size("embedding_size", 128);
        },
};

// MPNet (Song et al. 2020): RoBERTa with T5's distance biases, the same in all layers.
constexpr Family kMpNet{
    .name = "mpnet",
    .architecture = "MPNet",
    .prefixes = kMpNetPrefixes,
    .names = changed(withRobertaHead(kBertNames),
                     [](TensorNames& names) {
                       names.tokenTypes = {};
                       names.q = "attention.attn.q";
                       names.k = "attention.attn.k";
                       names.v = "attention.attn.v";
                       names.o = "attention.attn.o";
                       names.attentionNorm = "attention.LayerNorm";
                       names.bucketBias = "encoder.relative_attention_bias";
                     }),
    .encoder = true,
    .fields = {.ignored = "type_vocab_size",
               .fixed = "relative_attention_num_buckets=32",
               .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          constexpr Index kPadding = 1;  // whatever config.json says
          readBertFields(json, kPadding + 1, config);
          config.padToken = kPadding;
          config.tokenTypes = 0;
          config.headActivation = Activation::gelu;
          config.bucketBias.emplace().bidirectional = true;
        },
};

// RoFormer (Su et al. 2021): BERT with rotary positions, in pairs of neighbours.
constexpr Family kRoFormer{
    .name = "roformer",
    .architecture = "RoFormer",
    .prefixes = kRoFormerPrefixes,
    .names = changed(kBertNames,
                     [](TensorNames& names) {
                       names.positions = {};
                       names.embeddingMap = "embeddings_project";
                     }),
    .encoder = true,
    .fields = {.fixed = "rotary_value=false", .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBertFields(json, 0, config);
          rotate(json, true, 10000, config);
          const Index size = json.size("embedding_size", config.modelDim);
          if (size != config.modelDim) config.embeddingDim = size;
        },
};

// ESM-1b and ESM-2 (Rives et al. 2021; Lin et al. 2023), for proteins: norms before each part; in ESM-2,
// rotary positions.
constexpr Family kEsm{
    .name = "esm",
    .architecture = "Esm",
    .prefixes = kEsmPrefixes,
    .names = changed(withRobertaHead(kBertNames),
                     [](TensorNames& names) {
                       names.tokenTypes = {};
                       names.embeddingNorm = "embeddings.layer_norm";
                       names.attentionNorm = "attention.LayerNorm";
                       names.mlpNorm = "LayerNorm";
                       names.finalNorm = "encoder.emb_layer_norm_after";
                     }),
    .encoder = true,
    .fields = {.ignored =
                   "esmfold_config vocab_list rope_theta hidden_act type_vocab_size position_embedding_type",
               .fixed = "is_folding_model=false",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readRobertaFields(json, config);
          normBefore(config);
          config.activation = Activation::gelu;
          config.tokenTypes = 0;
          config.embeddingNormed = json.flag("emb_layer_norm_before", false);
          if (json.flag("token_dropout", false)) config.droppedToken = json.size("mask_token_id", {}, 0);
          const std::string positions = json.text("position_embedding_type", "absolute");
          if (positions == "rotary") return rotate(json, false, 10000, config);
          if (positions != "absolute")
            json.refuse("position_embedding_type", "\"" + positions + "\"", "absolute or rotary");
        },
};

/// Names of the newer encoders, whose queries, keys and values are one tensor.
constexpr TensorNames withFusedMaps(TensorNames names, std::string_view qkv, std::string_view o) {
  names.positions = names.q = names.k = names.v = {};
  names.embeddingNorm = "emb_ln";
  names.layer = "encoder.layers.N.";
  names.qkv = qkv;
  names.fused = FusedRows::thirds;
  names.o = o;
  names.attentionNorm = "norm1";
  names.mlpNorm = "norm2";
  return names;
}

// Nomic Embed (Nussbaum et al. 2024): BERT with rotary positions, a gated MLP and no biases.
constexpr Family kNomicBert{
    .name = "nomic_bert",
    .architecture = "NomicBert",
    .prefixes = kNomicPrefixes,
    .names = changed(withFusedMaps(kBertNames, "attn.Wqkv", "attn.out_proj"),
                     [](TensorNames& names) {
                       names.up = "mlp.fc11";
                       names.gate = "mlp.fc12";
                       names.down = "mlp.fc2";
                       names.headNorm = "cls.predictions.transform.layer_norm";
                     }),
    .encoder = true,
    .fields = {.ignored = "head_dim", .base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBertFields(json, 0, config);
          rotate(json, false, 1000, config);
          config.activation = readActivation(json, "hidden_act", "silu");
          config.gated = true;
          config.qkvBias = config.outputBias = config.mlpBias = false;
        },
};

// Jina Embeddings 3 (Sturua et al. 2024): XLM-R with rotary positions.
constexpr Family kJinaV3{
    .name = "jina_embeddings_v3",
    .architecture = "JinaEmbeddingsV3",
    .prefixes = kRobertaPrefixes,
    .names = changed(withFusedMaps(withRobertaHead(kBertNames), "mixer.Wqkv", "mixer.out_proj"),
                     [](TensorNames& names) {
                       names.up = "mlp.fc1";
                       names.down = "mlp.fc2";
                     }),
    .encoder = true,
    .fields = {.base = &kBertFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readRobertaFields(json, config);
          rotate(json, false, 20000, config);
          config.tokenTypes = json.size("type_vocab_size", 1);
          config.epsilon = json.positive("layer_norm_eps", 1e-5);
        },
};

// EuroBERT (Boizard et al. 2025): Llama without the causal mask.
constexpr Family kEuroBert{
    .name = "eurobert",
    .architecture = "EuroBert",
    .encoder = true,
    .tied = false,
    .fields = {.ignored = "classifier_pooling", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 8192, .epsilon = 1e-5, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
          config.causal = false;
        },
};

constexpr Family kBertDescendants[] = {kData2Vec,  kPreLayerNorm, kXlmRobertaXl, kMegatronBert, kErnie,
                                       kDpr,       kAlbert,       kMpNet,        kRoFormer,     kEsm,
                                       kNomicBert, kJinaV3,       kEuroBert};

}  // namespace

std::span<const Family> bertDescendants() {
  return kBertDescendants;
}

}  // namespace headscope::attention::families

#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// GPT-1, GPT-2 and GPT-J, and models with their layers or OPT's.

namespace headscope::attention::families {
namespace {

/// The names that GPTs share.
constexpr TensorNames kGptNames{.embedding = "wte",
                                .positions = "wpe",
                                .layer = "h.N.",
                                .qkv = "attn.c_attn",
                                .o = "attn.c_proj",
                                .up = "mlp.c_fc",
                                .down = "mlp.c_proj",
                                .attentionNorm = "ln_1",
                                .mlpNorm = "ln_2",
                                .finalNorm = "ln_f",
                                .head = "lm_head"};

constexpr ConfigFields kGptFields{
    .ignored =
        "n_ctx reorder_and_upcast_attn attention_softmax_in_fp32 scale_attention_softmax_in_fp32 "
        "inference_runner pre_allocate_kv_cache max_sequence_length max_batch_size validate_runner_input "
        "summary_type summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout "
        "summary_last_dropout predict_special_tokens",
    .fixed =
        "hidden_size=@n_embd num_attention_heads=@n_head num_hidden_layers=@n_layer "
        "max_position_embeddings=@n_positions",
    .base = &kSharedFields};

void readGpt(const ConfigReader& json, std::string_view act, std::string_view activation,
             ModelConfig& config) {
  readSizes(json, {.width = "n_embd", .heads = "n_head", .layers = "n_layer"}, config);
  config.innerDim = json.size("n_inner", std::min(4 * config.modelDim, kMaxConfigSize));
  config.maxPositions = json.size("n_positions", 1024, 1, kMaxPositions);
  config.activation = readActivation(json, act, activation);
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.qkvBias = config.outputBias = config.mlpBias = true;
}

void unscale(const ConfigReader& json, ModelConfig& config) {
  if (!json.flag("scale_attn_weights", true))
    for (LayerKind& layer : config.layers) layer.scale = 1;
}

}  // namespace

// GPT-2 (Radford et al. 2019): learned positions, LayerNorm before each part, weights as [in, out].
constinit const Family gpt2{
    .name = "gpt2",
    .architecture = "GPT2",
    .prefixes = kTransformerPrefixes,
    .names = changed(kGptNames, [](TensorNames& names) { names.inFirst = true; }),
    .aliases = "gpt-sw3",
    .fields = {.base = &kGptFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGpt(json, "activation_function", "gelu_new", config);
          config.positionRows = config.maxPositions;
          unscale(json, config);
          if (json.flag("scale_attn_by_inverse_layer_idx", false))
            for (std::size_t i = 0; i < config.layers.size(); ++i)
              config.layers[i].scale /= static_cast<float>(i + 1);
        },
};

namespace {

// StarCoder (Li et al. 2023): GPT-2 with one kv head for all queries.
constexpr Family kGptBigCode{
    .name = "gpt_bigcode",
    .architecture = "GPTBigCode",
    .prefixes = kTransformerPrefixes,
    .names = changed(kGptNames, [](TensorNames& names) { names.fused = FusedRows::heads; }),
    .fields = {.ignored = "num_key_value_heads", .base = &kGptFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGpt(json, "activation_function", "gelu_pytorch_tanh", config);
          config.positionRows = config.maxPositions;
          if (json.flag("multi_query", true)) config.kvHeads = 1;
          unscale(json, config);
        },
};

// GPT-1 (Radford et al. 2018): norms after each part; its "gelu" is the approximation by tanh.
constexpr Family kOpenAiGpt{
    .name = "openai-gpt",
    .architecture = "OpenAIGPT",
    .prefixes = kTransformerPrefixes,
    .names = changed(kGptNames,
                     [](TensorNames& names) {
                       names.embedding = "tokens_embed";
                       names.positions = "positions_embed";
                       names.finalNorm = {};
                       names.inFirst = true;
                     }),
    .fields = kGptFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGpt(json, "afn", "gelu", config);
          config.innerDim = std::min(4 * config.modelDim, kMaxConfigSize);
          config.positionRows = config.maxPositions = json.size("n_positions", 512);
          config.order = BlockOrder::after;
          if (config.activation == Activation::gelu) config.activation = Activation::geluTanh;
        },
};

constexpr TensorNames kGptJNames = changed(kGptNames, [](TensorNames& names) {
  names.positions = names.qkv = {};
  names.q = "attn.q_proj";
  names.k = "attn.k_proj";
  names.v = "attn.v_proj";
  names.o = "attn.out_proj";
  names.up = "mlp.fc_in";
  names.down = "mlp.fc_out";
  names.mlpNorm = names.attentionNorm;
});

void readGptJ(const ConfigReader& json, ModelConfig& config) {
  readGpt(json, "activation_function", "gelu_new", config);
  config.maxPositions = json.size("n_positions", 2048, 1, kMaxPositions);
  config.qkvBias = config.outputBias = false;
  config.order = BlockOrder::parallel;
  config.headBias = true;
  Rotation rotation;
  rotation.dims = json.size("rotary_dim", 64, 2, config.headDim);
  if (json.isNull("rotary_dim")) json.refuse("rotary_dim", "null", "a whole number");
  if (rotation.dims % 2 != 0) json.refuse("rotary_dim", std::to_string(rotation.dims), "an even number");
  rotation.frequencies = ropeFrequencies(rotation.dims, 10000);
  rotation.interleaved = true;
  config.rotations = {rotation};
  for (LayerKind& layer : config.layers) layer.rotation = 0;
}

}  // namespace

// GPT-J (Wang & Komatsuzaki 2021): attention and MLP read the same LayerNorm of the stream; neighbouring
// dimensions are rotated together.
constinit const Family gptJ{
    .name = "gptj",
    .architecture = "GPTJ",
    .prefixes = kTransformerPrefixes,
    .names = kGptJNames,
    .tied = false,
    .fields = {.ignored = "rotary", .fixed = "scale_attn_weights=true", .base = &kGptFields},
    .read = readGptJ,
};

namespace {

// CodeGen (Nijkamp et al. 2022): GPT-J with fused weights.
constexpr Family kCodeGen{
    .name = "codegen",
    .architecture = "CodeGen",
    .prefixes = kTransformerPrefixes,
    .names = changed(kGptJNames,
                     [](TensorNames& names) {
                       names.q = names.k = names.v = {};
                       names.qkv = "attn.qkv_proj";
                       names.fused = FusedRows::quarters;
                     }),
    .tied = false,
    .fields = {.ignored = "scale_attn_weights rotary gradient_checkpointing", .base = &kGptFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGptJ(json, config);
          if (config.heads % 4 != 0)
            json.refuse("n_head", std::to_string(config.heads), "a multiple of 4, as weights are stored");
        },
};

void readScaledEmbedding(const ConfigReader& json, ModelConfig& config) {
  config.qkvBias = config.outputBias = config.mlpBias = true;
  config.firstPosition = 2;
  if (json.flag("scale_embedding", true))
    config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
}

// XGLM (Lin et al. 2021): OPT with embeddings times √d, and sinusoids as positions.
constexpr Family kXglm{
    .name = "xglm",
    .architecture = "XGLM",
    .names = kOptNames,
    .fields = {.ignored = "activation_dropout init_std",
               .fixed = "hidden_size=@d_model num_attention_heads=@attention_heads "
                        "num_hidden_layers=@num_layers",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json,
                    {.width = "d_model",
                     .heads = "attention_heads",
                     .layers = "num_layers",
                     .usualWidth = 1024,
                     .usualHeads = 16,
                     .usualLayers = 24,
                     .vocabulary = 256008},
                    config);
          config.innerDim = json.size("ffn_dim", 4096);
          config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
          config.activation = readActivation(json, "activation_function", "gelu");
          config.sinusoidSteps = std::max<Index>(config.modelDim / 2 - 1, 1);
          readScaledEmbedding(json, config);
        },
};

// BioGPT (Luo et al. 2022): OPT with embeddings times √d.
constexpr std::string_view kBioGptPrefixes[] = {"biogpt.", ""};
constexpr Family kBioGpt{
    .name = "biogpt",
    .architecture = "BioGpt",
    .prefixes = kBioGptPrefixes,
    .names = changed(kOptNames,
                     [](TensorNames& names) {
                       names.positions = "embed_positions";
                       names.head = "output_projection";
                     }),
    .fields = {.ignored = "activation_dropout", .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {.usualWidth = 1024, .usualHeads = 16, .usualLayers = 24, .vocabulary = 42384},
                    config);
          config.innerDim = json.size("intermediate_size", 4096);
          config.maxPositions = json.size("max_position_embeddings", 1024);
          config.positionRows = config.maxPositions + 2;
          config.activation = readActivation(json, "hidden_act", "gelu");
          config.epsilon = json.positive("layer_norm_eps", 1e-12);
          readScaledEmbedding(json, config);
        },
};

constexpr Family kGptDescendants[] = {kGptBigCode, kOpenAiGpt, kCodeGen, kXglm, kBioGpt};

}  // namespace

std::span<const Family> gptDescendants() {
  return kGptDescendants;
}

}  // namespace headscope::attention::families

#include <fmt/core.h>

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// Llama (Touvron et al. 2023; Grattafiori et al. 2024): RMSNorm before each part, rotary positions, grouped
// queries, a gated MLP. InternLM3 (Shanghai AI Laboratory 2025), IQuest-Coder (2025) and Seed-OSS (ByteDance
// 2025) are Llama with other defaults; Seed-OSS has biases on q, k and v alone.

namespace {

/// What a missing head_dim means where null means an equal share of the width.
std::optional<Index> headDimUnlessNull(const ConfigReader& json) {
  return json.isNull("head_dim") ? std::nullopt : std::optional<Index>(128);
}

}  // namespace

constinit const Family llama{
    .name = "llama",
    .architecture = "Llama",
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
        },
};

constinit const Family internLm3{
    .name = "internlm3",
    .architecture = "InternLM3",
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(
              json, config,
              {.positions = 32768, .kvHeads = 2, .headDim = 128, .epsilon = 1e-5, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
          // Its own code calls attention_bias qkv_bias, and mlp_bias bias.
          config.qkvBias = config.outputBias = json.flag("qkv_bias", config.qkvBias);
          config.mlpBias = json.flag("bias", config.mlpBias);
        },
};

constinit const Family iQuestCoder{
    .name = "iquestcoder",
    .architecture = "IQuestCoder",
    .tied = false,
    .fields = {.fixed = "clip_qkv=null", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(
              json, config,
              {.positions = 131072, .kvHeads = 8, .headDim = 128, .epsilon = 1e-5, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
        },
};

constinit const Family seedOss{
    .name = "seed_oss",
    .architecture = "SeedOss",
    .tied = false,
    .fields = {.ignored = "residual_dropout", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 524288, .kvHeads = 8, .headDim = headDimUnlessNull(json)});
          config.mlpBias = json.flag("mlp_bias", false);
          config.qkvBias = json.flag("attention_bias", true);
          config.outputBias = json.flag("attention_out_bias", false);
        },
};

// Mistral (Jiang et al. 2023): Llama with a window on all layers. Ministral 3 (Mistral AI 2025) has none; far
// beyond the trained length its queries grow.

constinit const Family mistral{
    .name = "mistral",
    .architecture = "Mistral",
    .tied = false,
    .fields = {.fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 8});
          const auto window = readWindow(json, 4096);
          for (LayerKind& layer : config.layers) layer.window = window;
        },
};

constinit const Family ministral3{
    .name = "ministral3",
    .architecture = "Ministral3",
    .tied = false,
    .fields = {.fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 262144, .kvHeads = 8, .headDim = 128, .epsilon = 1e-5},
                    {.theta = 1e6});
          readOptionalWindow(json, config);
        },
};

// Ministral 8B (Mistral AI 2024): Mistral whose layers may differ in having a window. The Code World Model
// (FAIR CodeGen Team 2025): three layers with a window after each layer without one.

constinit const Family ministral{
    .name = "ministral",
    .architecture = "Ministral",
    .tied = false,
    .fields = {.fixed = "attention_bias=false mlp_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 8});
          const auto window = readWindow(json, 4096);
          readWindows(
              json, window, [](Index, Index slides) { return slides > 0; }, window ? 1 : 0, config);
        },
};

constinit const Family cwm{
    .name = "cwm",
    .architecture = "Cwm",
    .tied = false,
    .fields = {.fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          addRope(json, R"({"rope_type": "llama3", "rope_theta": 1e6, "factor": 16.0,
                    "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                    "original_max_position_embeddings": 8192})");
          readLlama(json, config,
                    {.positions = 131072, .kvHeads = 8, .headDim = headDimUnlessNull(json), .epsilon = 1e-5},
                    {.theta = 1e6});
          config.mlpBias = json.flag("mlp_bias", false);
          readWindows(
              json, readWindow(json, 8192), [](Index layer, Index of) { return layer % of != 0; }, 4, config);
        },
};

// ERNIE 4.5 (Baidu 2025) and Helium 1 (Kyutai 2025): Llama in which neighbouring dimensions are rotated
// together.

constinit const Family ernie45{
    .name = "ernie4_5",
    .architecture = "Ernie4_5",
    .fields = {.fixed = "attention_bias=false mlp_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 131072, .kvHeads = 2, .headDim = headDimUnlessNull(json), .epsilon = 1e-5},
                    {.theta = 500000});
          config.qkvBias = config.outputBias = config.mlpBias = json.flag("use_bias", false);
          config.rotations[0].interleaved = true;
        },
};

constinit const Family helium{
    .name = "helium",
    .architecture = "Helium",
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(
              json, config,
              {.positions = 4096, .kvHeads = 20, .headDim = 128, .epsilon = 1e-8, .attentionBias = false},
              {.theta = 100000});
          config.outputBias = false;
          config.mlpBias = json.flag("mlp_bias", false);
          config.rotations[0].interleaved = true;
        },
};

// Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in every layer.

constinit const Family mixtral{
    .name = "mixtral",
    .architecture = "Mixtral",
    .names = withSparseExperts(kLlamaNames),
    .tied = false,
    .fields = {.ignored = "router_jitter_noise", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 8, .epsilon = 1e-5}, {.theta = 1e6});
          readOptionalWindow(json, config);
          readMixture(
              json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2},
              config);
          config.mixture.sumsToOne = true;
        },
};

// SmolLM3 (Hugging Face 2025): Llama without rotary positions in every fourth layer.

namespace {

/// Layers named in layer_types have a window whatever use_sliding_window says; without the list, it gives one
/// to the unrotated layers (SmolLM3Config of transformers).
void readSmolWindows(const ConfigReader& json, ModelConfig& config) {
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  const bool slides = json.flag("use_sliding_window", false);
  if (json.has("layer_types"))
    return readWindows(
        json, window, [](Index, Index) { return false; }, 0, config);
  for (LayerKind& layer : config.layers)
    if (slides && !layer.rotation) layer.window = window;
}

}  // namespace

constinit const Family smollm3{
    .name = "smollm3",
    .architecture = "SmolLM3",
    .fields = {.ignored = "max_window_layers", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 32768, .kvHeads = 4, .attentionBias = false}, {.theta = 2e6});
          config.mlpBias = json.flag("mlp_bias", false);
          readUnrotated(json, config);
          readSmolWindows(json, config);
        },
};

// Granite 3 (Granite Team 2024): Llama with factors on embeddings, scores, layer outputs and logits.

void readGraniteFactors(const ConfigReader& json, ModelConfig& config) {
  config.embeddingScale = static_cast<float>(json.positive("embedding_multiplier", 1));
  config.residualScale = static_cast<float>(json.positive("residual_multiplier", 1));
  config.logitScale = static_cast<float>(1 / json.positive("logits_scaling", 1));
  for (LayerKind& layer : config.layers)
    layer.scale = static_cast<float>(json.positive("attention_multiplier", 1));
}

constinit const Family granite{
    .name = "granite",
    .architecture = "Granite",
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
          readGraniteFactors(json, config);
        },
};

// StableLM 3B and 2 (Bellagente et al. 2024): Llama with LayerNorm, in which part of each head is rotated. In
// 2 12B, each head's queries and keys have their own norm, and attention and MLP read the same norm of the
// stream.

namespace {

void readStableLm(const ConfigReader& json, ModelConfig& config);

constexpr Family stableLmWith(std::string_view mlpNorm) {
  TensorNames names = kLlamaNames;
  names.mlpNorm = mlpNorm;
  names.qNorm = "self_attn.q_layernorm.norms.H";
  names.kNorm = "self_attn.k_layernorm.norms.H";
  return {.name = "stablelm",
          .architecture = "StableLm",
          .names = names,
          .tied = false,
          .fields = {.ignored = "rope_pct rotary_scaling_factor norm_eps", .base = &kLlamaFields},
          .read = readStableLm};
}

constexpr Family kOneNorm = stableLmWith(kLlamaNames.attentionNorm);

void readStableLm(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 4096, .kvHeads = 32}, {.partial = 0.25});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.qkvBias = json.flag("use_qkv_bias", false);
  if (json.flag("qk_layernorm", false)) config.qkNorm = QkNorm::perHead;
  if (json.flag("use_parallel_residual", false)) {
    config.family = &kOneNorm;
    config.order = BlockOrder::parallel;
  }
}

}  // namespace

constinit const Family stableLm = stableLmWith(kLlamaNames.mlpNorm);

// StarCoder2 (Lozhkov et al. 2024): Llama's shape with LayerNorm, biases and a plain MLP.

constinit const Family starcoder2{
    .name = "starcoder2",
    .architecture = "Starcoder2",
    .names = changed(kLlamaNames,
                     [](TensorNames& names) {
                       names.up = "mlp.c_fc";
                       names.down = "mlp.c_proj";
                       names.gate = {};
                     }),
    .fields = {.ignored = "residual_dropout embedding_dropout activation_function layer_norm_epsilon "
                          "attention_softmax_in_fp32 scale_attention_softmax_in_fp32 scale_attn_weights",
               .fixed = R"(mlp_type="default" norm_type="layer_norm")",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 4096, .kvHeads = 2, .activation = "gelu_pytorch_tanh"});
          config.epsilon = json.positive("norm_epsilon", 1e-5);
          config.norm = NormKind::layer;
          config.gated = false;
          config.qkvBias = config.outputBias = config.mlpBias = json.flag("use_bias", true);
          readOptionalWindow(json, config);
        },
};

}  // namespace headscope::attention::families

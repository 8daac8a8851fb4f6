#include <fmt/core.h>

#include "attention/models/families/fields.h"

namespace headscope::attention {

// Llama (Touvron et al. 2023; Grattafiori et al. 2024): RMSNorm before each part, rotary positions, grouped
// queries, a gated MLP. InternLM3 (Shanghai AI Laboratory 2025), IQuest-Coder (2025) and Seed-OSS (ByteDance
// 2025) are Llama with other defaults; Seed-OSS has biases on q, k and v alone.

namespace {

void readSizes(const ConfigReader& json, const families::LlamaDefaults& defaults, double epsilon,
               ModelConfig& config) {
  families::readLlamaSizes(json, config, defaults);
  config.epsilon = json.positive("rms_norm_eps", epsilon);
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  families::readRotation(json, {}, config);
}

void readLlama(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 2048}, 1e-6, config);
}

/// Its own code calls attention_bias qkv_bias, and mlp_bias bias.
void readInternLm3(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 32768, .kvHeads = 2, .headDim = 128}, 1e-5, config);
  config.qkvBias = config.outputBias = json.flag("qkv_bias", config.qkvBias);
  config.mlpBias = json.flag("bias", config.mlpBias);
}

void readIQuestCoder(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 131072, .kvHeads = 8, .headDim = 128}, 1e-5, config);
}

void readSeedOss(const ConfigReader& json, ModelConfig& config) {
  readSizes(json, {.positions = 524288, .kvHeads = 8, .headDim = 128}, 1e-6, config);
  config.qkvBias = json.flag("attention_bias", true);
  config.outputBias = json.flag("attention_out_bias", false);
}

constexpr ConfigFields kBiases{.read = "attention_bias mlp_bias", .base = &families::kLlamaFields};

constexpr Family llamaNamed(std::string_view name, std::string_view architecture, const ConfigFields& fields,
                            void (*read)(const ConfigReader&, ModelConfig&)) {
  return {.name = name,
          .architecture = architecture,
          .prefixes = families::kLlamaPrefixes,
          .headPrefixes = families::kNoPrefix,
          .names = families::kLlamaNames,
          .tied = false,
          .fields = fields,
          .read = read};
}

}  // namespace

constinit const Family families::llama = llamaNamed("llama", "Llama", kBiases, readLlama);
constinit const Family families::internLm3 =
    llamaNamed("internlm3", "InternLM3", {.read = "qkv_bias bias", .base = &kBiases}, readInternLm3);
constinit const Family families::iQuestCoder =
    llamaNamed("iquestcoder", "IQuestCoder", {.fixed = "clip_qkv=null", .base = &kBiases}, readIQuestCoder);
constinit const Family families::seedOss =
    llamaNamed("seed_oss", "SeedOss",
               {.read = "attention_out_bias", .ignored = "residual_dropout", .base = &kBiases}, readSeedOss);

// Mistral (Jiang et al. 2023): Llama with a window on all layers. Ministral 3 (Mistral AI 2025) has none; far
// beyond the trained length its queries grow.

namespace {

void readMistral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8});
  families::readRotation(json, {}, config);
  const auto window = families::readWindow(json, 4096);
  for (LayerKind& layer : config.layers) layer.window = window;
}

void readMinistral3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 262144, .kvHeads = 8, .headDim = 128});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  families::readRotation(json, {.theta = 1e6}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::mistral{
    .name = "mistral",
    .architecture = "Mistral",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "sliding_window", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read = readMistral,
};

constinit const Family families::ministral3{
    .name = "ministral3",
    .architecture = "Ministral3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "sliding_window", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read = readMinistral3,
};

// Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in every layer.

namespace {

constexpr TensorNames kMixtralNames = [] {
  TensorNames names = families::kLlamaNames;
  names.up = names.down = names.gate = {};
  names.router = "block_sparse_moe.gate";
  names.expertGate = "block_sparse_moe.experts.E.w1";
  names.expertDown = "block_sparse_moe.experts.E.w2";
  names.expertUp = "block_sparse_moe.experts.E.w3";
  return names;
}();

void readMixtral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 131072, .kvHeads = 8});
  config.epsilon = json.positive("rms_norm_eps", 1e-5);
  families::readRotation(json, {.theta = 1e6}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
  families::readMixture(
      json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2}, config);
  config.mixture.sumsToOne = true;
}

}  // namespace

constinit const Family families::mixtral{
    .name = "mixtral",
    .architecture = "Mixtral",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kMixtralNames,
    .tied = false,
    .fields = {.read = "sliding_window num_local_experts num_experts_per_tok",
               .ignored = "router_jitter_noise",
               .fixed = "attention_bias=false",
               .base = &kLlamaFields},
    .read = readMixtral,
};

// SmolLM3 (Hugging Face 2025): Llama without rotary positions in every fourth layer.

namespace {

/// no_rope_layers has 1 for each rotated layer; if absent, all but every no_rope_layer_interval-th are
/// rotated.
void readUnrotated(const ConfigReader& json, ModelConfig& config) {
  const Index interval = json.size("no_rope_layer_interval", 4, 1, kMaxLayers);
  const std::vector<Index> said = json.tokens("no_rope_layers");
  if (!said.empty() && std::ssize(said) != config.layerCount())
    return json.refuse("no_rope_layers", fmt::format("a list of {}", said.size()),
                       fmt::format("one for each of the {} layers", config.layerCount()));
  for (Index i = 0; i < config.layerCount(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (said.empty() ? (i + 1) % interval == 0 : said[at] == 0) config.layers[at].rotation.reset();
  }
}

/// Layers named in layer_types have a window whatever use_sliding_window says; without the list, it gives one
/// to the unrotated layers (SmolLM3Config of transformers).
void readSmolWindows(const ConfigReader& json, ModelConfig& config) {
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  const bool slides = json.flag("use_sliding_window", false);
  if (json.has("layer_types"))
    return families::readWindows(
        json, window, [](Index, Index) { return false; }, 0, config);
  for (LayerKind& layer : config.layers)
    if (slides && !layer.rotation) layer.window = window;
}

void readSmolLm3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 4});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  families::readRotation(json, {.theta = 2e6}, config);
  readUnrotated(json, config);
  readSmolWindows(json, config);
}

}  // namespace

constinit const Family families::smollm3{
    .name = "smollm3",
    .architecture = "SmolLM3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .fields = {.read = "attention_bias mlp_bias no_rope_layers no_rope_layer_interval use_sliding_window "
                       "sliding_window layer_types",
               .ignored = "max_window_layers",
               .base = &kLlamaFields},
    .read = readSmolLm3,
};

// Granite 3 (Granite Team 2024): Llama with factors on embeddings, scores, layer outputs and logits.

namespace {

void readGranite(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 2048});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  config.embeddingScale = static_cast<float>(json.positive("embedding_multiplier", 1));
  config.residualScale = static_cast<float>(json.positive("residual_multiplier", 1));
  config.logitScale = static_cast<float>(1 / json.positive("logits_scaling", 1));
  for (LayerKind& layer : config.layers)
    layer.scale = static_cast<float>(json.positive("attention_multiplier", 1));
  families::readRotation(json, {}, config);
}

}  // namespace

constinit const Family families::granite{
    .name = "granite",
    .architecture = "Granite",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "attention_bias mlp_bias embedding_multiplier residual_multiplier logits_scaling "
                       "attention_multiplier",
               .base = &kLlamaFields},
    .read = readGranite,
};

// StableLM 3B and 2 (Bellagente et al. 2024): Llama with LayerNorm, in which part of each head is rotated. In
// 2 12B, each head's queries and keys have their own norm, and attention and MLP read the same norm of the
// stream.

namespace {

void readStableLm(const ConfigReader& json, ModelConfig& config);

constexpr Family stableLmWith(std::string_view mlpNorm) {
  TensorNames names = families::kLlamaNames;
  names.mlpNorm = mlpNorm;
  names.qNorm = "self_attn.q_layernorm.norms.H";
  names.kNorm = "self_attn.k_layernorm.norms.H";
  return {.name = "stablelm",
          .architecture = "StableLm",
          .prefixes = families::kLlamaPrefixes,
          .headPrefixes = families::kNoPrefix,
          .names = names,
          .tied = false,
          .fields = {.read = "layer_norm_eps use_qkv_bias qk_layernorm use_parallel_residual",
                     .ignored = "rope_pct rotary_scaling_factor norm_eps",
                     .base = &families::kLlamaFields},
          .read = readStableLm};
}

constexpr Family kOneNorm = stableLmWith(families::kLlamaNames.attentionNorm);

void readStableLm(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 32});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.qkvBias = json.flag("use_qkv_bias", false);
  if (json.flag("qk_layernorm", false)) config.qkNorm = QkNorm::perHead;
  if (json.flag("use_parallel_residual", false)) {
    config.family = &kOneNorm;
    config.order = BlockOrder::parallel;
  }
  families::readRotation(json, {.partial = 0.25}, config);
}

}  // namespace

constinit const Family families::stableLm = stableLmWith(kLlamaNames.mlpNorm);

// StarCoder2 (Lozhkov et al. 2024): Llama's shape with LayerNorm, biases and a plain MLP.

namespace {

constexpr TensorNames kStarCoder2Names = [] {
  TensorNames names = families::kLlamaNames;
  names.up = "mlp.c_fc";
  names.down = "mlp.c_proj";
  names.gate = {};
  return names;
}();

void readStarCoder2(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 2});
  config.activation = families::readActivation(json, "hidden_act", "gelu_pytorch_tanh");
  config.epsilon = json.positive("norm_epsilon", 1e-5);
  config.norm = NormKind::layer;
  config.gated = false;
  config.qkvBias = config.outputBias = config.mlpBias = json.flag("use_bias", true);
  families::readRotation(json, {}, config);
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::starcoder2{
    .name = "starcoder2",
    .architecture = "Starcoder2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kStarCoder2Names,
    .fields = {.read = "norm_epsilon use_bias sliding_window",
               .ignored = "residual_dropout embedding_dropout activation_function layer_norm_epsilon "
                          "attention_softmax_in_fp32 scale_attention_softmax_in_fp32 scale_attn_weights",
               .fixed = R"(mlp_type="default" norm_type="layer_norm")",
               .base = &kLlamaFields},
    .read = readStarCoder2,
};

}  // namespace headscope::attention

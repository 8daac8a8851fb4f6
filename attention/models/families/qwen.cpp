#include "attention/models/families/fields.h"

namespace headscope::attention {

// Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases on q, k and v.

namespace {

void readQwen2(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 32});
  config.qkvBias = true;
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config, [](Index layer, Index bound) { return layer >= bound; });
}

}  // namespace

constinit const Family families::qwen2{
    .name = "qwen2",
    .architecture = "Qwen2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .tied = false,
    .fields = {.read = "use_sliding_window sliding_window max_window_layers layer_types",
               .base = &kLlamaFields},
    .read = readQwen2,
};

// Qwen 3 (Yang et al. 2025): Llama with RMSNorm on each head's queries and keys.

namespace {

void readQwen3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 32, .headDim = 128});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.qkNorm = QkNorm::head;
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config, [](Index layer, Index bound) { return layer >= bound; });
}

}  // namespace

constinit const Family families::qwen3{
    .name = "qwen3",
    .architecture = "Qwen3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = families::withHeadNorms(kLlamaNames),
    .tied = false,
    .fields = {.read = "attention_bias use_sliding_window sliding_window max_window_layers layer_types",
               .base = &kLlamaFields},
    .read = readQwen3,
};

// Qwen 2 and Qwen 3 as mixtures of experts (Yang et al. 2024, 2025).

namespace {

constexpr TensorNames kQwen2MoeNames = [] {
  TensorNames names = families::withExperts(families::kLlamaNames);
  names.sharedUp = "mlp.shared_expert.up_proj";
  names.sharedDown = "mlp.shared_expert.down_proj";
  names.sharedGate = "mlp.shared_expert.gate_proj";
  names.sharedRouter = "mlp.shared_expert_gate";
  return names;
}();

/// Every decoder_sparse_step-th layer is a mixture, except those in mlp_only_layers.
void readSparseLayers(const ConfigReader& json, ModelConfig& config) {
  const Index step = json.size("decoder_sparse_step", 1, 1, kMaxLayers);
  const std::vector<Index> dense = json.tokens("mlp_only_layers");
  for (Index i = 0; i < config.layerCount(); ++i)
    config.layers[asSize(i)].mixture = (i + 1) % step == 0 && std::ranges::find(dense, i) == dense.end();
}

void readQwen2Moe(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 16});
  config.qkvBias = json.flag("qkv_bias", true);
  families::readRotation(json, {}, config);
  families::readQwenWindows(json, config,
                            [](Index layer, Index bound) { return layer % 2 == 0 && layer < bound; });
  families::readMixture(json, {.count = 60, .used = 4, .defaultDim = 1408}, config);
  config.mixture.sharedDim = json.size("shared_expert_intermediate_size", 5632);
  config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
  readSparseLayers(json, config);
}

/// The window is that of all layers, whatever layer_types says (Qwen3MoeModel of transformers).
void readWindowOfAll(const ConfigReader& json, ModelConfig& config) {
  const bool slides = json.flag("use_sliding_window", false);
  const auto window = families::readWindow(json, 4096, slides ? 1 : 0);
  if (!slides) return;
  for (LayerKind& layer : config.layers) layer.window = window;
  if (window && json.has("layer_types"))
    config.notes.emplace_back(
        "config.json's layer_types is ignored, as in transformers: the window is that of all layers.");
}

void readQwen3Moe(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 4});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.qkNorm = QkNorm::head;
  families::readRotation(json, {}, config);
  readWindowOfAll(json, config);
  constexpr std::string_view kNewExperts = "num_local_experts";  // transformers 5
  families::MixtureKeys keys{.count = 128, .used = 8, .defaultDim = 768};
  json.expectSame(keys.experts, kNewExperts);
  if (json.has(kNewExperts)) keys.experts = kNewExperts;
  families::readMixture(json, keys, config);
  config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
  readSparseLayers(json, config);
}

constexpr ConfigFields kQwenMoeFields{
    .read =
        "use_sliding_window sliding_window decoder_sparse_step mlp_only_layers "
        "moe_intermediate_size num_experts num_experts_per_tok norm_topk_prob",
    .base = &families::kLlamaFields,
};

}  // namespace

constinit const Family families::qwen2Moe{
    .name = "qwen2_moe",
    .architecture = "Qwen2Moe",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kQwen2MoeNames,
    .tied = false,
    .fields = {.read = "qkv_bias shared_expert_intermediate_size max_window_layers layer_types",
               .fixed = "attention_bias=false",
               .base = &kQwenMoeFields},
    .read = readQwen2Moe,
};

constinit const Family families::qwen3Moe{
    .name = "qwen3_moe",
    .architecture = "Qwen3Moe",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = families::withHeadNorms(families::withExperts(kLlamaNames)),
    .tied = false,
    .fields = {.read = "attention_bias num_local_experts",
               .ignored = "max_window_layers layer_types",
               .fixed = "shared_expert_intermediate_size=0",
               .base = &kQwenMoeFields},
    .read = readQwen3Moe,
};

}  // namespace headscope::attention

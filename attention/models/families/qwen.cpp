#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases on q, k and v.

constinit const Family qwen2{
    .name = "qwen2",
    .architecture = "Qwen2",
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 32768, .kvHeads = 32});
          config.qkvBias = true;
          readQwenWindows(json, config);
        },
};

// Qwen 3 (Yang et al. 2025): Llama with RMSNorm on each head's queries and keys.

constinit const Family qwen3{
    .name = "qwen3",
    .architecture = "Qwen3",
    .names = withHeadNorms(kLlamaNames),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 32768, .kvHeads = 32, .headDim = 128, .attentionBias = false});
          config.qkNorm = QkNorm::head;
          readQwenWindows(json, config);
        },
};

// Qwen 2 and Qwen 3 as mixtures of experts (Yang et al. 2024, 2025).

void readSparseLayers(const ConfigReader& json, ModelConfig& config) {
  const Index step = json.size("decoder_sparse_step", 1, 1, kMaxLayers);
  const std::vector<Index> dense = json.tokens("mlp_only_layers");
  for (Index i = 0; i < config.layerCount(); ++i)
    config.layers[asSize(i)].mixture = (i + 1) % step == 0 && std::ranges::find(dense, i) == dense.end();
}

namespace {

/// The window is that of all layers, whatever layer_types says (Qwen3MoeModel of transformers).
void readWindowOfAll(const ConfigReader& json, ModelConfig& config) {
  const bool slides = json.flag("use_sliding_window", false);
  const auto window = readWindow(json, 4096, slides ? 1 : 0);
  if (!slides) return;
  for (LayerKind& layer : config.layers) layer.window = window;
  if (window && json.has("layer_types"))
    config.notes.emplace_back(
        "config.json's layer_types is ignored, as in transformers: the window is that of all layers.");
}

}  // namespace

constinit const Family qwen2Moe{
    .name = "qwen2_moe",
    .architecture = "Qwen2Moe",
    .names = changed(withExperts(kLlamaNames),
                     [](TensorNames& names) {
                       names.sharedUp = "mlp.shared_expert.up_proj";
                       names.sharedDown = "mlp.shared_expert.down_proj";
                       names.sharedGate = "mlp.shared_expert.gate_proj";
                       names.sharedRouter = "mlp.shared_expert_gate";
                     }),
    .tied = false,
    .fields = {.fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 32768, .kvHeads = 16});
          config.qkvBias = json.flag("qkv_bias", true);
          readQwenWindows(json, config, 28,
                          [](Index layer, Index bound) { return layer % 2 == 0 && layer < bound; });
          readMixture(json, {.count = 60, .used = 4, .defaultDim = 1408}, config);
          config.mixture.sharedDim = json.size("shared_expert_intermediate_size", 5632);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
          readSparseLayers(json, config);
        },
};

constinit const Family qwen3Moe{
    .name = "qwen3_moe",
    .architecture = "Qwen3Moe",
    .names = withHeadNorms(withExperts(kLlamaNames)),
    .tied = false,
    .fields = {.ignored = "max_window_layers layer_types",
               .fixed = "shared_expert_intermediate_size=0",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 32768, .kvHeads = 4, .attentionBias = false});
          config.qkNorm = QkNorm::head;
          readWindowOfAll(json, config);
          constexpr std::string_view kNewExperts = "num_local_experts";  // transformers 5
          MixtureKeys keys{.count = 128, .used = 8, .defaultDim = 768};
          json.expectSame(keys.experts, kNewExperts);
          if (json.has(kNewExperts)) keys.experts = kNewExperts;
          readMixture(json, keys, config);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
          readSparseLayers(json, config);
        },
};

}  // namespace headscope::attention::families

#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// Mixtures with DeepSeek V3's router, and other models with its latent attention.

namespace headscope::attention::families {
namespace {

/// mlp_layer_types says which layers are mixtures; if absent, all but the first `dense` are.
void readSparseLayers(const ConfigReader& json, Index dense, ModelConfig& config) {
  const std::vector<std::string> kinds = json.texts("mlp_layer_types");
  if (!kinds.empty() && std::ssize(kinds) != config.layerCount())
    return json.refuse("mlp_layer_types", "a list of " + std::to_string(kinds.size()),
                       "one for each of the " + std::to_string(config.layerCount()) + " layers");
  for (Index i = 0; i < config.layerCount(); ++i) {
    const auto at = asSize(i);
    if (!kinds.empty() && kinds[at] != "dense" && kinds[at] != "sparse")
      json.refuse("mlp_layer_types", quotedText(kinds[at]), "dense or sparse");
    config.layers[at].mixture = kinds.empty() ? i >= dense : kinds[at] == "sparse";
  }
}

constexpr ConfigFields kGlmFields{.ignored = "num_nextn_predict_layers", .base = &kLlamaFields};

constexpr TensorNames kGlmNames = withHeadNorms(withRoutedExperts(kLlamaNames));

// GLM 4.5 (GLM Team 2025): half of each head is rotated, and queries and keys may be normed.
constexpr Family kGlm4Moe{
    .name = "glm4_moe",
    .architecture = "Glm4Moe",
    .names = kGlmNames,
    .tied = false,
    .fields = kGlmFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 131072, .kvHeads = 8, .epsilon = 1e-5, .attentionBias = false},
                    {.partial = 0.5});
          config.outputBias = false;
          if (json.flag("use_qk_norm", false)) config.qkNorm = QkNorm::head;
          readCorrected(json, {128, 8, 1408, 1, 1, 1, 1, 1}, true, config);
        },
};

// dots.llm1 (RedNote 2025): norms of each head's queries and keys.
constexpr Family kDots1{
    .name = "dots1",
    .architecture = "Dots1",
    .names = kGlmNames,
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .kvHeads = 32, .attentionBias = false});
          config.qkNorm = QkNorm::head;
          readCorrected(json, {0, 0, 1408, 0, 1, 1, 0, 1}, false, config);
          const auto window = readWindow(json, 4096);
          readWindows(
              json, window, [](Index layer, Index from) { return layer >= from; },
              window ? json.size("max_window_layers", 62, 0, kMaxLayers) : kMaxLayers, config);
        },
};

// Solar Open (Upstage 2025): every layer is a mixture.
constexpr Family kSolarOpen{
    .name = "solar_open",
    .architecture = "SolarOpen",
    .names = withRoutedExperts(kLlamaNames),
    .tied = false,
    .fields = {.ignored = "intermediate_size num_nextn_predict_layers", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          ConfigReader file = json;
          file.addDefaults(R"({"intermediate_size": 1})");  // there is no other MLP
          readLlama(
              json, config,
              {.positions = 131072, .kvHeads = 8, .headDim = 128, .epsilon = 1e-5, .attentionBias = false},
              {.theta = 1e6, .partial = 1});
          config.outputBias = false;
          readCorrected(json, {128, 8, 1280, 1, 1, 1, 0, 1}, true, config);
        },
};

// Sarvam 30B (Sarvam AI 2026): GLM 4.5 with fused weights, in which all of each head is rotated.
constexpr Family kSarvamMoe{
    .name = "sarvam_moe",
    .architecture = "SarvamMoE",
    .names =
        [] {
          TensorNames names = withRoutedExperts(kLlamaNames);
          names.embedding = "word_embeddings";
          names.q = names.k = names.v = {};
          names.qkv = "attention.query_key_value";
          names.o = "attention.dense";
          names.qNorm = "attention.query_layernorm";
          names.kNorm = "attention.key_layernorm";
          names.routerCorrection = "mlp.gate.expert_bias";
          return names;
        }(),
    .tied = false,
    .fields = kGlmFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 4, .headDim = 64, .attentionBias = false},
                    {.theta = 8e6, .partial = 1});
          config.outputBias = false;
          if (json.flag("use_qk_norm", true)) config.qkNorm = QkNorm::head;
          readCorrected(json, {128, 6, 1024, 1, 1, 1, 1, 2.5}, true, config);
        },
};

// K-EXAONE (LG AI Research 2025): EXAONE 4's attention.
constexpr Family kExaoneMoe{
    .name = "exaone_moe",
    .architecture = "ExaoneMoe",
    .names =
        [] {
          TensorNames names = kGlmNames;
          names.routerCorrection = "mlp.e_score_correction_bias";
          return names;
        }(),
    .tied = false,
    .fields = {.fixed = "attention_bias=false mlp_bias=false", .base = &kGlmFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .kvHeads = 32, .epsilon = 1e-5});
          config.qkNorm = QkNorm::head;
          readExaoneWindows(json, config);
          readCorrected(json, {64, 8, 1024, 1, 1, 1, 1, 2.5, "num_experts", "num_shared_experts"}, true,
                        config);
          readSparseLayers(json, json.size("first_k_dense_replace", 1, 0, kMaxLayers), config);
        },
};

// Hunyuan 3 (Tencent 2026): norms of each head's queries and keys.
constexpr Family kHyV3{
    .name = "hy_v3",
    .architecture = "HYV3",
    .names =
        [] {
          TensorNames names = kGlmNames;
          names.router = "mlp.router.gate";
          names.routerCorrection = "mlp.expert_bias";
          names.sharedUp = "mlp.shared_mlp.up_proj";
          names.sharedDown = "mlp.shared_mlp.down_proj";
          names.sharedGate = "mlp.shared_mlp.gate_proj";
          return names;
        }(),
    .tied = false,
    .fields = {.ignored = "enable_moe_fp32_combine num_nextn_predict_layers",
               .fixed = "mlp_bias=false",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(
              json, config,
              {.positions = 131072, .kvHeads = 8, .headDim = 128, .epsilon = 1e-5, .attentionBias = false},
              {.theta = 11158840});
          config.qkNorm = QkNorm::head;
          readCorrected(
              json,
              {192, 8, 1536, 1, 1, 1, 1, 2.826, "num_experts", "num_shared_experts", "router_scaling_factor"},
              true, config);
          readSparseLayers(json, 1, config);
        },
};

// GLM 4.7 Flash (GLM Team 2026): DeepSeek V3 with other sizes.
constexpr Family kGlm4MoeLite{
    .name = "glm4_moe_lite",
    .architecture = "Glm4MoeLite",
    .names = withLatents(withRoutedExperts(kLlamaNames)),
    .tied = false,
    .fields = kDeepSeekFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 202752, .headDim = 1, .epsilon = 1e-5});
          readLatent(json, json.flag("rope_interleave", true), config,
                     {.queryRank = 768, .value = 256, .plain = 192});
          readCorrected(json, {64, 4, 1536, 1, 1, 1, 1, 1.8}, true, config);
          readSparseLayers(json, 1, config);
        },
};

// Sarvam 105B (Sarvam AI 2026): DeepSeek V3 whose queries are made from the stream.
constexpr Family kSarvamMla{
    .name = "sarvam_mla",
    .architecture = "SarvamMLA",
    .names = withLatents(withRoutedExperts(kLlamaNames)),
    .tied = false,
    .fields = kDeepSeekFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 4096, .headDim = 1});
          readLatent(json, json.flag("rope_interleave", true), config, {.queryRank = 0});
          readCorrected(json, {128, 8, 2048, 1, 1, 1, 1, 2.5}, true, config);
        },
};

// Youtu-LLM (Tencent 2025): DeepSeek V3's attention with Llama's MLP.
constexpr Family kYoutu{
    .name = "youtu",
    .architecture = "Youtu",
    .names = withLatents(kLlamaNames),
    .fields = {.ignored = "embedding_initializer_range", .base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 131072, .headDim = 1});
          readLatent(json, json.flag("rope_interleave", true), config);
        },
};

// MiniCPM3 (OpenBMB 2024): the same with factors on embeddings, layer outputs and logits.
constexpr Family kMiniCpm3{
    .name = "minicpm3",
    .architecture = "MiniCPM3",
    .names = withLatents(kLlamaNames),
    .fields = kDeepSeekFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 32768, .headDim = 1, .epsilon = 1e-5});
          readLatent(json, false, config, {256, 768, 32, 64, 64});
          config.embeddingScale = static_cast<float>(json.positive("scale_emb", 12));
          config.residualScale = static_cast<float>(json.positive("scale_depth", 1.4) /
                                                    std::sqrt(static_cast<double>(config.layerCount())));
          config.logitScale =
              static_cast<float>(json.positive("dim_model_base", 256) / static_cast<double>(config.modelDim));
        },
};

constexpr Family kRouted[] = {kGlm4Moe, kDots1,       kSolarOpen, kSarvamMoe, kExaoneMoe,
                              kHyV3,    kGlm4MoeLite, kSarvamMla, kYoutu,     kMiniCpm3};

}  // namespace

std::span<const Family> routed() {
  return kRouted;
}

}  // namespace headscope::attention::families

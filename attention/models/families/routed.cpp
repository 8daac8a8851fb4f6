#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// Mixtures with DeepSeek V3's router, and other models with its latent attention.

namespace headscope::attention::families {
namespace {

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
          readCorrected(json, {.experts = 128, .used = 8, .innerDim = 1408}, config);
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
          readCorrected(json, {.innerDim = 1408, .shared = 0, .dense = 0, .sumsToOne = false}, config);
          const auto window = readWindow(json, 4096);
          const Index from = json.size("max_window_layers", 62, 0, kMaxLayers);
          readWindows(json, window, allFrom, window ? from : kMaxLayers, config);
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
          readCorrected(json, {.experts = 128, .used = 8, .innerDim = 1280, .dense = 0}, config);
        },
};

// Sarvam 30B (Sarvam AI 2026): GLM 4.5 with fused weights, in which all of each head is rotated.
constexpr Family kSarvamMoe{
    .name = "sarvam_moe",
    .architecture = "SarvamMoE",
    .names = changed(withRoutedExperts(kLlamaNames),
                     [](TensorNames& names) {
                       names.embedding = "word_embeddings";
                       names.q = names.k = names.v = {};
                       names.qkv = "attention.query_key_value";
                       names.o = "attention.dense";
                       names.qNorm = "attention.query_layernorm";
                       names.kNorm = "attention.key_layernorm";
                       names.routerCorrection = "mlp.gate.expert_bias";
                     }),
    .tied = false,
    .fields = {.fixed = "num_experts=@n_routed_experts num_shared_experts=@n_shared_experts",
               .base = &kGlmFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 4, .headDim = 64, .attentionBias = false},
                    {.theta = 8e6, .partial = 1});
          config.outputBias = false;
          if (json.flag("use_qk_norm", true)) config.qkNorm = QkNorm::head;
          RoutedDefaults defaults{.experts = 128, .used = 6, .innerDim = 1024, .shareScale = 2.5};
          // The published files have these names.
          if (json.has("num_experts")) defaults.expertsKey = "num_experts";
          if (json.has("num_shared_experts")) defaults.sharedKey = "num_shared_experts";
          readCorrected(json, defaults, config);
        },
};

// K-EXAONE (LG AI Research 2025): EXAONE 4's attention.
constexpr Family kExaoneMoe{
    .name = "exaone_moe",
    .architecture = "ExaoneMoe",
    .names = changed(kGlmNames,
                     [](TensorNames& names) { names.routerCorrection = "mlp.e_score_correction_bias"; }),
    .tied = false,
    .fields = {.fixed = "attention_bias=false mlp_bias=false", .base = &kGlmFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .kvHeads = 32, .epsilon = 1e-5});
          config.qkNorm = QkNorm::head;
          readExaoneWindows(json, config);
          readCorrected(json,
                        {.experts = 64,
                         .used = 8,
                         .innerDim = 1024,
                         .shareScale = 2.5,
                         .expertsKey = "num_experts",
                         .sharedKey = "num_shared_experts"},
                        config);
          readMlpLayerTypes(json, config);
        },
};

// Hunyuan 3 (Tencent 2026): norms of each head's queries and keys.
constexpr Family kHyV3{
    .name = "hy_v3",
    .architecture = "HYV3",
    .names = changed(kGlmNames,
                     [](TensorNames& names) {
                       names.router = "mlp.router.gate";
                       names.routerCorrection = "mlp.expert_bias";
                       names.sharedUp = "mlp.shared_mlp.up_proj";
                       names.sharedDown = "mlp.shared_mlp.down_proj";
                       names.sharedGate = "mlp.shared_mlp.gate_proj";
                     }),
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
          readCorrected(json,
                        {.experts = 192,
                         .used = 8,
                         .innerDim = 1536,
                         .shareScale = 2.826,
                         .expertsKey = "num_experts",
                         .sharedKey = "num_shared_experts",
                         .scaleKey = "router_scaling_factor"},
                        config);
          readMlpLayerTypes(json, config);
        },
};

// GLM 4.7 Flash (GLM Team 2026): DeepSeek V3 with other sizes.
constexpr Family kGlm4MoeLite{
    .name = "glm4_moe_lite",
    .architecture = "Glm4MoeLite",
    .names = withLatents(withRoutedExperts(kLlamaNames)),
    .tied = false,
    .fields = {.base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 202752, .headDim = 1, .epsilon = 1e-5});
          readLatent(json, json.flag("rope_interleave", true), config,
                     {.queryRank = 768, .value = 256, .plain = 192});
          readCorrected(json, {.experts = 64, .used = 4, .innerDim = 1536, .shareScale = 1.8}, config);
          readMlpLayerTypes(json, config);
        },
};

// Sarvam 105B (Sarvam AI 2026): DeepSeek V3 whose queries are made from the stream.
constexpr Family kSarvamMla{
    .name = "sarvam_mla",
    .architecture = "SarvamMLA",
    .names = withLatents(withRoutedExperts(kLlamaNames)),
    .tied = false,
    .fields = {.base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 4096, .headDim = 1});
          readLatent(json, json.flag("rope_interleave", true), config, {.queryRank = 0});
          readCorrected(json, {.experts = 128, .used = 8, .innerDim = 2048, .shareScale = 2.5}, config);
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
    .fields = {.base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 32768, .headDim = 1, .epsilon = 1e-5});
          const Index share = std::max<Index>(config.modelDim / config.heads, 1);
          readLatent(json, false, config,
                     {.rank = 256, .queryRank = 768, .rope = 32, .value = share, .plain = 64});
          const double depth = std::sqrt(static_cast<double>(config.layerCount())),
                       width = static_cast<double>(config.modelDim);
          const auto part = [&](const char* key, double defaultValue, double whole) {  // null: all of it
            return json.isNull(key) ? 1 : static_cast<float>(json.positive(key, defaultValue) / whole);
          };
          config.embeddingScale = static_cast<float>(json.positive("scale_emb", 12));
          config.residualScale = part("scale_depth", 1.4, depth);
          config.logitScale = part("dim_model_base", 256, width);
        },
};

constexpr Family kRouted[] = {kGlm4Moe, kDots1,       kSolarOpen, kSarvamMoe, kExaoneMoe,
                              kHyV3,    kGlm4MoeLite, kSarvamMla, kYoutu,     kMiniCpm3};

}  // namespace

std::span<const Family> routed() {
  return kRouted;
}

}  // namespace headscope::attention::families

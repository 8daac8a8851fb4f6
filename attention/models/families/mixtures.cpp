#include <cmath>

#include "attention/models/families/fields.h"

// Llama and its descendants with mixtures of experts.

namespace headscope::attention::families {
void readGraniteMixture(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 2048, .attentionBias = false});
  readGraniteFactors(json, config);
  readMixture(json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2},
              config);
  config.mixture.sumsToOne = true;
}

namespace {

// Granite 3 as a mixture (Granite Team 2024).
constexpr Family kGraniteMoe{
    .name = "granitemoe",
    .architecture = "GraniteMoe",
    .names = kGraniteMixtureNames,
    .tied = false,
    .read = readGraniteMixture,
};

// The same with an MLP that every token passes.
constexpr Family kGraniteMoeShared{
    .name = "granitemoeshared",
    .architecture = "GraniteMoeShared",
    .names = kGraniteMixtureNames,
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGraniteMixture(json, config);
          config.mixture.sharedDim = json.size("shared_intermediate_size", 0, 0);
        },
};

// MiniMax M2 (MiniMax 2025): norms of all queries, and of all keys, of a token together; σ as score.
constexpr Family kMiniMaxM2{
    .name = "minimax_m2",
    .architecture = "MiniMaxM2",
    .names = changed(
        withHeadNorms(withSparseExperts(kLlamaNames)),
        [](TensorNames& names) { names.routerCorrection = "block_sparse_moe.e_score_correction_bias"; }),
    .tied = false,
    .fields = {.ignored = "router_jitter_noise use_mtp num_mtp_modules mtp_transformer_layers",
               .fixed = R"(use_qk_norm=true qk_norm_type="per_layer" scoring_func="sigmoid")",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 196608, .kvHeads = 8, .headDim = 128});
          // The published files give the rotated dimensions of a head instead of their share.
          const Index rotated = json.size("rotary_dim", config.headDim, 2, config.headDim);
          readRotation(
              json,
              {.theta = 5e6, .partial = static_cast<double>(rotated) / static_cast<double>(config.headDim)},
              config);
          config.qkNorm = QkNorm::whole;
          readMixture(
              json,
              {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 256, .used = 8},
              config);
          config.mixture.sigmoid = config.mixture.corrected = config.mixture.sumsToOne = true;
        },
};

// Phi-3.5-MoE (Abdin et al. 2024): LayerNorm, and SparseMixer's choice of two experts.
constexpr Family kPhiMoe{
    .name = "phimoe",
    .architecture = "Phimoe",
    .names = withSparseExperts(kLlamaNames),
    .tied = false,
    .fields = {.ignored = "input_jitter_noise original_max_position_embeddings", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 131072, .kvHeads = 8, .epsilon = 1e-5, .attentionBias = false},
                    {.theta = 1e6});
          config.norm = NormKind::layer;
          config.headBias = json.flag("lm_head_bias", false);
          readOptionalWindow(json, config);
          readMixture(
              json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 16, .used = 2},
              config);
          config.mixture.jitter = static_cast<float>(json.positive("router_jitter_noise", 0.01));
          if (config.mixture.used != 2)
            json.refuse("num_experts_per_tok", std::to_string(config.mixture.used), "2");
          const ConfigReader rope = ropeOf(json);
          Rotation& rotation = config.rotations[0];
          if (rotation.longFrequencies.empty()) return;
          // The published code takes the short factors for all lengths, and a given amplitude.
          rotation.longFrequencies.clear();
          rotation.longBeyond = 0;
          rotation.amplitude = rope.positive("short_mscale");
          rope.expectSame("long_mscale", "short_mscale");
        },
};

// FlexOlmo (Shi et al. 2025): OLMo 2 as a mixture.
constexpr Family kFlexOlmo{
    .name = "flex_olmo",
    .architecture = "FlexOlmo",
    .names = changed(withHeadNorms(withExperts(kLlamaNames)),
                     [](TensorNames& names) {
                       names.attentionNorm = names.mlpNorm = {};
                       names.afterAttentionNorm = "post_attention_layernorm";
                       names.afterMlpNorm = "post_feedforward_layernorm";
                     }),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 4096, .attentionBias = false}, {.theta = 500000});
          config.order = BlockOrder::around;
          config.qkNorm = QkNorm::whole;
          readMixture(json, {.innerDim = "intermediate_size", .count = 7, .used = 5}, config);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
        },
};

// ERNIE 4.5 as a mixture (Baidu 2025): corrected scores, and experts for every token.
constexpr Family kErnie45Moe{
    .name = "ernie4_5_moe",
    .architecture = "Ernie4_5_Moe",
    .names = changed(
        withRoutedExperts(kLlamaNames),
        [](TensorNames& names) { names.routerCorrection = "mlp.moe_statics.e_score_correction_bias"; }),
    .fields = {.ignored = "moe_norm_min", .fixed = "attention_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 4, .epsilon = 1e-5}, {.theta = 500000});
          config.qkvBias = config.outputBias = config.mlpBias = json.flag("use_bias", false);
          config.rotations[0].interleaved = true;
          Mixture& mixture = config.mixture;
          mixture.experts = json.size("moe_num_experts", 64);
          mixture.used = json.size("moe_k", std::min<Index>(6, mixture.experts), 1, mixture.experts);
          mixture.innerDim = json.size("moe_intermediate_size", 1536);
          mixture.sharedDim = json.size("moe_num_shared_experts", 2, 0) * mixture.innerDim;
          mixture.corrected = mixture.sumsToOne = true;
          const Index first = json.size("moe_layer_start_index", 1, 0, kMaxLayers),
                      step = json.size("moe_layer_interval", 1, 1, kMaxLayers);
          const Index last = json.differs("moe_layer_end_index", "-1")
                                 ? json.size("moe_layer_end_index", kMaxLayers, 0, kMaxLayers)
                                 : kMaxLayers;
          for (Index i = 0; i < config.layerCount(); ++i)
            config.layers[asSize(i)].mixture = (i + 1) % step == 0 && i >= first && i <= last;
        },
};

/// Hunyuan's names and rotation: queries and keys are rotated before their norms; `alpha` stretches the base
/// for all lengths (NTK-aware scaling).
constexpr TensorNames kHunyuanNames = changed(kLlamaNames, [](TensorNames& names) {
  names.qNorm = "self_attn.query_layernorm";
  names.kNorm = "self_attn.key_layernorm";
});

void readHunyuan(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 2048, .epsilon = 1e-5, .attentionBias = false});
  config.qkNorm = QkNorm::head;
  config.rotatedFirst = true;
  const auto alpha = ropeOf(json).optionalPositive("alpha");
  Rotation& rotation = config.rotations[0];
  if (!alpha || rotation.dynamic.factor == 0) return;
  const auto dims = static_cast<double>(rotation.dims);
  rotation.frequencies =
      ropeFrequencies(rotation.dims, rotation.dynamic.theta * std::pow(*alpha, dims / (dims - 2)));
  rotation.dynamic = {};
  rotation.longBeyond = 0;
}

constexpr ConfigFields kHunyuanFields{
    .ignored = "eod_token_id sep_token_id", .fixed = "use_qk_norm=true use_cla=false", .base = &kLlamaFields};

// Hunyuan (Tencent 2025).
constexpr Family kHunyuanDense{
    .name = "hunyuan_v1_dense",
    .architecture = "HunYuanDenseV1",
    .names = kHunyuanNames,
    .tied = false,
    .fields = kHunyuanFields,
    .read = readHunyuan,
};

/// Reads a size, or a list that gives the same one for every layer.
Index sizeOfAll(const ConfigReader& json, std::string_view key, Index defaultValue) {
  if (!json.isList(key)) return json.size(key, defaultValue);
  const std::vector<Index> sizes = json.tokens(key);
  if (!sizes.empty() && sizes[0] >= 1 && sizes[0] <= kMaxConfigSize &&
      std::ranges::all_of(sizes, [&](Index size) { return size == sizes[0]; }))
    return sizes[0];
  json.refuse(key, "a list of different numbers", "the same number from 1 for every layer");
  return defaultValue;
}

constexpr Family kHunyuanMoe{
    .name = "hunyuan_v1_moe",
    .architecture = "HunYuanMoEV1",
    .names = changed(withExperts(kHunyuanNames),
                     [](TensorNames& names) {
                       names.router = "mlp.gate.wg";
                       names.sharedUp = "mlp.shared_mlp.up_proj";
                       names.sharedDown = "mlp.shared_mlp.down_proj";
                       names.sharedGate = "mlp.shared_mlp.gate_proj";
                     }),
    .tied = false,
    .fields = kHunyuanFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readHunyuan(json, config);
          Mixture& mixture = config.mixture;
          mixture.experts = sizeOfAll(json, "num_experts", 1);
          mixture.used = sizeOfAll(json, "moe_topk", 1);
          if (mixture.used > mixture.experts)
            json.refuse("moe_topk", std::to_string(mixture.used),
                        "at most the " + std::to_string(mixture.experts) + " experts");
          mixture.innerDim = mixture.sharedDim = config.innerDim;
          mixture.sumsToOne = true;
          for (LayerKind& layer : config.layers) layer.mixture = true;
        },
};

constexpr Family kMixtures[] = {kGraniteMoe, kGraniteMoeShared, kMiniMaxM2,    kPhiMoe,
                                kFlexOlmo,   kErnie45Moe,       kHunyuanDense, kHunyuanMoe};

}  // namespace

std::span<const Family> mixtures() {
  return kMixtures;
}

}  // namespace headscope::attention::families

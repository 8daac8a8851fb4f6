#include <fmt/core.h>

#include <cmath>

#include "attention/models/families/fields.h"

// Families whose parts others have, put together in another way.

namespace headscope::attention::families {
namespace {

constexpr bool allButFourth(Index layer, Index) {
  return layer % 4 != 0;
}

/// Windows on all but every fourth layer, sinks, and a rotation per layer: layer_rope_theta has its base, or
/// 0 for none.
void readGraniteWindows(const ConfigReader& json, ModelConfig& config) {
  config.sinks = true;
  readWindows(json, readWindow(json, 128), allButFourth, 0, config);
  if (!json.has("layer_rope_theta")) return;
  ropeOf(json).expect("rope_type", "\"default\"");
  const Rotation usual = config.rotations[0];
  config.rotations.clear();
  const std::vector<double> bases = json.numbers("layer_rope_theta", config.layerCount());
  for (std::size_t i = 0; i < bases.size(); ++i) {
    config.layers[i].rotation.reset();
    if (bases[i] <= 0) continue;
    Rotation rotation = usual;
    rotation.frequencies = ropeFrequencies(rotation.dims, bases[i]);
    const auto known = std::ranges::find(config.rotations, rotation);
    config.layers[i].rotation = known - config.rotations.begin();
    if (known == config.rotations.end()) config.rotations.push_back(std::move(rotation));
  }
}

constexpr std::string_view kSinks = "self_attn.sinks";

// Granite with windows (IBM 2026).
constexpr Family kGraniteWindows{
    .name = "granite_swa",
    .architecture = "GraniteSWA",
    .names = changed(kLlamaNames, [](TensorNames& names) { names.sinks = kSinks; }),
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 8192, .kvHeads = 4, .epsilon = 1e-5, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
          readGraniteFactors(json, config);
          readGraniteWindows(json, config);
        },
};

// The same with experts.
constexpr Family kGraniteMoeWindows{
    .name = "granitemoe_swa",
    .architecture = "GraniteMoeSWA",
    .names = changed(kGraniteMixtureNames,
                     [](TensorNames& names) {
                       names.sinks = kSinks;
                       names.router = "block_sparse_moe.router";
                       names.expertGateThenUp = "block_sparse_moe.experts.gate_up_proj";
                       names.expertDown = "block_sparse_moe.experts.down_proj";
                     }),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGraniteMixture(json, config);
          config.mixture.sharedDim = json.size("shared_intermediate_size", 0, 0);
          readGraniteWindows(json, config);
        },
};

// Mellum 2 (JetBrains 2026): Qwen 3's mixture with a rotation per kind of layer.
constexpr Family kMellum{
    .name = "mellum",
    .architecture = "Mellum",
    .names = withHeadNorms(withExperts(kLlamaNames)),
    .tied = false,
    .fields = {.ignored = "num_mtp_layers num_nextn_predict_layers mtp_layer_types mtp_mlp_layer_types",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config,
                         {.positions = 131072, .kvHeads = 4, .headDim = 128, .attentionBias = false});
          config.qkNorm = QkNorm::head;
          readWindows(
              json, readWindow(json, 1024), [](Index, Index) { return false; }, 0, config);
          readRotations(json, {.theta = 5e5}, 1e4, config);
          MixtureKeys keys{.count = 64, .used = 8, .defaultDim = 896};
          if (json.has("num_local_experts")) keys.experts = "num_local_experts";
          readMixture(json, keys, config);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", true);
          readMlpLayerTypes(json, config);
        },
};

// AFM (Arcee AI 2025): heads with gates and norms, norms around each part, experts with a corrected score,
// and positions only in layers with a window.
constexpr Family kAfmoe{
    .name = "afmoe",
    .architecture = "Afmoe",
    .names = changed(withHeadNorms(withRoutedExperts(kLlamaNames)),
                     [](TensorNames& names) {
                       names.headGate = "self_attn.gate_proj";
                       names.router = "mlp.router.gate";
                       names.routerCorrection = "mlp.expert_bias";
                       names.afterAttentionNorm = "post_attention_layernorm";
                       names.mlpNorm = "pre_mlp_layernorm";
                       names.afterMlpNorm = "post_mlp_layernorm";
                     }),
    .tied = false,
    .fields = {.ignored = "load_balance_coeff use_grouped_mm global_attn_every_n_layers",
               .fixed = "score_func=\"sigmoid\" route_norm=true n_group=1 topk_group=1 num_expert_groups=1 "
                        "num_limited_groups=1",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 16384, .headDim = 128, .epsilon = 1e-5, .attentionBias = false});
          config.order = BlockOrder::around;
          config.qkNorm = QkNorm::head;
          config.gatedHeads = true;
          if (json.flag("mup_enabled", false))
            config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
          readWindows(json, readWindow(json, 1024), allButEvery,
                      json.size("global_attn_every_n_layers", 4, 1, kMaxLayers), config);
          for (LayerKind& layer : config.layers)
            if (!layer.window) layer.rotation.reset();
          RoutedDefaults defaults{.experts = 64, .used = 6, .innerDim = 1408, .shared = 2};
          defaults.expertsKey = "num_experts";
          defaults.sharedKey = "num_shared_experts";
          defaults.scaleKey = "route_scale";
          readRouted(json, defaults, config);
          config.mixture.sigmoid = config.mixture.corrected = config.mixture.sumsToOne = true;
          const Index dense = json.size("num_dense_layers", 1, 0);
          for (Index i = 0; i < config.layerCount(); ++i) config.layers[asSize(i)].mixture = i >= dense;
        },
};

// A.X K1 (SK Telecom 2026): DeepSeek V3 with a norm of what a mixture adds.
constexpr Family kAxk1{
    .name = "axk1",
    .architecture = "AXK1",
    .names = changed(withLatents(withRoutedExperts(kLlamaNames)),
                     [](TensorNames& names) { names.afterExpertsNorm = "post_mlp_layernorm"; }),
    .tied = false,
    .fields = {.fixed = R"(scoring_func="sigmoid" topk_method="noaux_tc")", .base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 32768, .headDim = 1});
          readLatent(json, json.flag("rope_interleave", true), config);
          readCorrected(
              json,
              {.experts = 192, .used = 8, .innerDim = 2048, .groups = 8, .groupsUsed = 4, .shareScale = 2.5},
              config);
          readMlpLayerTypes(json, config);
        },
};

constexpr Family kRecombined[] = {kGraniteWindows, kGraniteMoeWindows, kMellum, kAfmoe, kAxk1};

}  // namespace

std::span<const Family> recombined() {
  return kRecombined;
}

}  // namespace headscope::attention::families

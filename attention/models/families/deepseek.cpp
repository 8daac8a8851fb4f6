#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// DeepSeek V2 and V3 (DeepSeek-AI 2024): the keys and values of all heads are made from one short vector per
// token (multi-head latent attention), and all layers but the first few are mixtures with experts that every
// token passes through.

namespace headscope::attention::families {
namespace {

constexpr TensorNames kDeepSeekNames = withLatents(withRoutedExperts(kLlamaNames));

/// Reads the rotation of a head's last qk_rope_head_dim dimensions, and the scale of scores, which YaRN's
/// mscale_all_dim sharpens once more; 0 counts as absent.
void readRotatedPart(const ConfigReader& json, bool interleaved, ModelConfig& config) {
  const Index whole = config.headDim;
  config.headDim = config.latent.ropeDim;
  readRotation(json, {}, config);
  config.headDim = whole;
  config.rotations[0].first = whole - config.latent.ropeDim;
  config.rotations[0].interleaved = interleaved;

  const char* const key = json.object("rope_scaling").names().empty() ? "rope_parameters" : "rope_scaling";
  const ConfigReader rope = json.object(key);
  const double sharpness = rope.differs("mscale_all_dim", "0") &&
                                   rope.text(rope.has("rope_type") ? "rope_type" : "type", "") == "yarn"
                               ? yarnAttentionFactor(rope.positive("factor"), rope.positive("mscale_all_dim"))
                               : 1;
  for (LayerKind& layer : config.layers)
    layer.scale = static_cast<float>(sharpness * sharpness / std::sqrt(static_cast<double>(whole)));
}

}  // namespace

void readLatent(const ConfigReader& json, bool interleaved, ModelConfig& config,
                const LatentDefaults& defaults) {
  Latent& latent = config.latent;
  latent.rank = json.size("kv_lora_rank", defaults.rank);
  if (!json.isNull("q_lora_rank")) latent.queryRank = json.size("q_lora_rank", defaults.queryRank, 0);
  latent.ropeDim = json.size("qk_rope_head_dim", defaults.rope);
  latent.valueDim = json.size("v_head_dim", defaults.value);
  config.headDim = json.size("qk_nope_head_dim", defaults.plain) + latent.ropeDim;
  config.kvHeads = config.heads;
  if (latent.valueDim > config.headDim)
    json.refuse("v_head_dim", std::to_string(latent.valueDim),
                "at most qk_nope_head_dim + qk_rope_head_dim, " + std::to_string(config.headDim));
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  readRotatedPart(json, interleaved, config);
}

void readGroups(const ConfigReader& json, const RoutedDefaults& defaults, Index groupBest, bool grouped,
                Mixture& mixture) {
  const Index groups = json.size("n_group", std::min(defaults.groups, mixture.experts), 1, mixture.experts),
              used = json.size("topk_group", std::min(defaults.groupsUsed, groups), 1, groups);
  if (!grouped) return;
  mixture.groups = groups;
  mixture.groupsUsed = used;
  mixture.groupBest = groupBest;
  const Index size = mixture.experts / groups;
  if (mixture.experts % groups != 0 || size < groupBest)
    json.refuse("n_group", std::to_string(groups),
                "a divisor of n_routed_experts (" + std::to_string(mixture.experts) + ") that leaves " +
                    std::to_string(groupBest) + " or more per group");
  else if (mixture.used > used * size)
    json.refuse("num_experts_per_tok", std::to_string(mixture.used),
                "at most the " + std::to_string(used * size) + " of topk_group groups");
}

void readRouted(const ConfigReader& json, const RoutedDefaults& defaults, ModelConfig& config) {
  readMixture(json,
              {.experts = defaults.expertsKey,
               .count = defaults.experts,
               .used = defaults.used,
               .defaultDim = defaults.innerDim},
              config);
  Mixture& mixture = config.mixture;
  mixture.sharedDim = json.size(defaults.sharedKey, defaults.shared, 0) * mixture.innerDim;
  mixture.shareScale = static_cast<float>(json.positive(defaults.scaleKey, defaults.shareScale));
  const Index dense = json.size("first_k_dense_replace", defaults.dense, 0, kMaxLayers),
              step = json.size("moe_layer_freq", 1, 1, kMaxLayers);
  for (Index i = 0; i < config.layerCount(); ++i)
    config.layers[asSize(i)].mixture = i >= dense && i % step == 0;
}

void readCorrected(const ConfigReader& json, const RoutedDefaults& defaults, ModelConfig& config) {
  readRouted(json, defaults, config);
  readGroups(json, defaults, 2, true, config.mixture);
  config.mixture.sigmoid = config.mixture.corrected = true;
  config.mixture.sumsToOne = json.flag("norm_topk_prob", defaults.sumsToOne);
}

constinit const ConfigFields kDeepSeekFields{
    // Additional layers after the last one predict further tokens, for training and speculation.
    .ignored = "qk_head_dim num_nextn_predict_layers ep_size aux_loss_alpha seq_aux",
    .fixed = "num_key_value_heads=@num_attention_heads head_dim=@qk_rope_head_dim mlp_bias=false",
    .base = &kLlamaFields,
};

constinit const Family deepSeek2{
    .name = "deepseek_v2",
    .architecture = "DeepseekV2",
    .names = kDeepSeekNames,
    .tied = false,
    .fields = {.fixed = R"(norm_topk_prob=false scoring_func="softmax")", .base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          // A head's size is read below.
          readLlamaSizes(json, config, {.positions = 2048, .headDim = 1});
          readLatent(json, true, config);
          const std::string method = json.text("topk_method", "greedy");
          if (method != "greedy" && method != "group_limited_greedy")
            json.refuse("topk_method", quotedText(method), "greedy or group_limited_greedy");
          constexpr RoutedDefaults kDefaults{
              .experts = 64, .used = 6, .innerDim = 1407, .shared = 2, .dense = 0};
          readRouted(json, kDefaults, config);
          readGroups(json, kDefaults, 1, method != "greedy", config.mixture);
        },
};

constinit const Family deepSeek3{
    .name = "deepseek_v3",
    .architecture = "DeepseekV3",
    .names = kDeepSeekNames,
    .tied = false,
    .aliases = "kimi_k2",
    .fields = {.fixed = R"(scoring_func="sigmoid" topk_method="noaux_tc")", .base = &kDeepSeekFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 4096, .headDim = 1});
          readLatent(json, json.flag("rope_interleave", true), config);
          readCorrected(json,
                        {.experts = 256,
                         .used = 8,
                         .innerDim = 2048,
                         .groups = 8,
                         .groupsUsed = 4,
                         .dense = 3,
                         .shareScale = 2.5},
                        config);
        },
};

}  // namespace headscope::attention::families

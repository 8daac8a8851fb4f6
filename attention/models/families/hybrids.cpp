#include <fmt/core.h>

#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/hybrid_fields.h"

// Hybrids: models most of whose layers carry a state instead of attending.

namespace headscope::attention::families {
namespace {

using Kind = Recurrence::Kind;

// Bamba (IBM 2024): Mamba-2 and attention with half of each head rotated.
constexpr Family kBamba{
    .name = "bamba",
    .architecture = "Bamba",
    .names = kFeedForwardNames,
    .tied = false,
    .fields = {.base = &kMambaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 262144, .kvHeads = 8, .epsilon = 1e-5, .attentionBias = false},
                    {.partial = 0.5});
          config.mlpBias = json.flag("mlp_bias", false);
          readMamba2(json, config);
          setHybrid(json, listedLayers(json, "attn_layer_indices", config), config);
        },
};

constexpr Family graniteHybrid(TensorNames names) {
  return {
      .name = "granitemoehybrid",
      .architecture = "GraniteMoeHybrid",
      .names = withMixer(names, "mamba."),
      .tied = false,
      .fields = {.ignored = "rope_theta rope_scaling rope_parameters", .base = &kMambaFields},
      .read =
          [](const ConfigReader& json, ModelConfig& config) {
            readLlamaSizes(json, config, {.positions = 2048, .attentionBias = false});
            readGraniteFactors(json, config);
            if (json.text("position_embedding_type", "nope") == "rope") readRotation(json, {}, config);
            const Index shared = json.size("shared_intermediate_size", 1024);
            if (json.size("num_local_experts", 8, 0) == 0) {
              config.innerDim = shared;
            } else {
              readMixture(
                  json,
                  {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2},
                  config);
              config.mixture.sumsToOne = true;
              config.mixture.sharedDim = shared;
            }
            readMamba2(json, config);
            std::vector<bool> attends = namedLayers(json, "layers_block_type", "mamba", false, config);
            if (json.has("layer_types")) attends = namedLayers(json, "layer_types", "mamba", false, config);
            setHybrid(json, attends, config);
          },
  };
}

// Granite 4 (IBM 2025): Mamba-2 and attention without positions, with a mixture of experts or an MLP.
constexpr Family kGraniteHybrid = graniteHybrid(changed(kGraniteMixtureNames, [](TensorNames& names) {
  names.gateUp = "shared_mlp.input_linear";
  names.down = "shared_mlp.output_linear";
}));

// Jamba (Lieber et al. 2024): Mamba and attention without positions, with experts in some layers.
constexpr Family kJamba{
    .name = "jamba",
    .architecture = "Jamba",
    .names = changed(kFeedForwardNames,
                     [](TensorNames& names) {
                       names.router = "feed_forward.router";
                       names.expertUp = "feed_forward.experts.E.up_proj";
                       names.expertDown = "feed_forward.experts.E.down_proj";
                       names.expertGate = "feed_forward.experts.E.gate_proj";
                     }),
    .tied = false,
    .fields = {.ignored = "num_local_experts layers_num_experts", .base = &kMambaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 262144, .kvHeads = 8});
          const Index d = config.modelDim;
          Recurrence& how = config.recurrence;
          how = {.kind = Kind::mamba,
                 .kernel = json.size("mamba_d_conv", 4),
                 .heads = std::min(json.size("mamba_expand", 2) * d, kMaxConfigSize),
                 .headDim = 1,
                 .state = json.size("mamba_d_state", 16),
                 .rank =
                     json.isText("mamba_dt_rank") ? (d + 15) / 16 : json.size("mamba_dt_rank", (d + 15) / 16),
                 .bias = json.flag("mamba_proj_bias", false),
                 .kernelBias = json.flag("mamba_conv_bias", true),
                 .epsilon = config.epsilon};
          how.outBias = how.bias;
          const Index experts = json.size("num_experts", 16);
          const auto every = [&](const char* period, const char* offset, Index usual, Index from) {
            const Index of = json.size(period, usual), at = json.size(offset, from, 0);
            std::vector<bool> picks;
            for (Index i = 0; i < config.layerCount(); ++i) picks.push_back(i % of == at);
            return picks;
          };
          const std::vector<bool> mixed = every("expert_layer_period", "expert_layer_offset", 2, 1);
          if (experts > 1) {
            readMixture(json, {.innerDim = "intermediate_size", .count = 16, .used = 2}, config);
            for (std::size_t i = 0; i < mixed.size(); ++i) config.layers[i].mixture = mixed[i];
          }
          setHybrid(json, every("attn_layer_period", "attn_layer_offset", 8, 4), config);
        },
};

constexpr TensorNames kLfm2Names = changed(withMixer(kLlamaNames, "conv."), [](TensorNames& names) {
  names.recurrence.kernel = "conv";
  names.qNorm = "self_attn.q_layernorm";
  names.kNorm = "self_attn.k_layernorm";
  names.o = "self_attn.out_proj";
  names.gate = "feed_forward.w1";
  names.down = "feed_forward.w2";
  names.up = "feed_forward.w3";
  names.attentionNorm = "operator_norm";
  names.mlpNorm = "ffn_norm";
  names.finalNorm = "embedding_norm";
});

constexpr ConfigFields kLfm2Fields{
    .ignored =
        "conv_dim conv_dim_out conv_use_xavier_init block_dim block_mlp_init_scale block_norm_eps "
        "block_out_init_scale block_use_xavier_init num_heads use_pos_enc theta tie_embedding full_attn_idxs "
        "rms_norm_eps",
    .fixed = "block_use_swiglu=true",
    .base = &kLlamaFields};

/// Reads what LFM2 and its mixture share: short convolutions, and norms of each head's queries and keys.
void readLfm2(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 128000, .heads = 32, .vocabulary = 65536, .kvHeads = 8},
            {.theta = 1e6});
  config.epsilon = json.positive("norm_eps", 1e-5);
  config.qkNorm = QkNorm::head;
  config.tied = json.flag("tie_embedding", config.tied);
  config.recurrence = {
      .kind = Kind::convolution, .kernel = json.size("conv_L_cache", 3), .headDim = config.modelDim};
  config.recurrence.bias = config.recurrence.outBias = config.recurrence.kernelBias =
      json.flag("conv_bias", false);
}

/// Two thirds of the inner width, times a factor, rounded up to a multiple, unless the file says otherwise.
void readAdjustedWidth(const ConfigReader& json, ModelConfig& config) {
  if (!json.flag("block_auto_adjust_ff_dim", true)) return;
  config.innerDim = 2 * config.innerDim / 3;
  const Index of = json.size("block_multiple_of", 256);
  const double wide =
      std::floor(json.positive("block_ffn_dim_multiplier", 1) * static_cast<double>(config.innerDim));
  if (!(wide >= 1 && wide <= static_cast<double>(kMaxConfigSize)))
    return json.refuse("block_ffn_dim_multiplier", "out of range",
                       fmt::format("a factor that gives the MLP 1 to {} rows", kMaxConfigSize));
  if (!json.isNull("block_ffn_dim_multiplier"))
    config.innerDim = (static_cast<Index>(wide) + of - 1) / of * of;
}

// LFM2 (Liquid AI 2025): short convolutions and attention.
constexpr Family kLfm2{
    .name = "lfm2",
    .architecture = "Lfm2",
    .names = kLfm2Names,
    .fields = {.base = &kLfm2Fields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLfm2(json, config);
          config.innerDim = json.size("block_ff_dim", config.innerDim);
          readAdjustedWidth(json, config);
          const bool listed = json.has("full_attn_idxs") && !json.has("layer_types");
          setHybrid(json,
                    listed ? listedLayers(json, "full_attn_idxs", config)
                           : namedLayers(json, "layer_types", "conv", true, config),
                    config);
        },
};

// The same with experts in all layers but the first: σ as score, and corrected scores.
constexpr Family kLfm2Moe{
    .name = "lfm2_moe",
    .architecture = "Lfm2Moe",
    .names = changed(kLfm2Names,
                     [](TensorNames& names) {
                       names.router = "feed_forward.gate";
                       names.routerCorrection = "feed_forward.expert_bias";
                       names.expertGate = "feed_forward.experts.E.w1";
                       names.expertDown = "feed_forward.experts.E.w2";
                       names.expertUp = "feed_forward.experts.E.w3";
                     }),
    .fields = {.base = &kLfm2Fields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLfm2(json, config);
          readMixture(json, {.count = 32, .used = 4, .defaultDim = 1792}, config);
          const Index dense = json.size("num_dense_layers", 2, 0);
          for (Index i = 0; i < std::min(dense, config.layerCount()); ++i)
            config.layers[asSize(i)].mixture = false;
          config.mixture.sigmoid = true;
          config.mixture.sumsToOne = json.flag("norm_topk_prob", true);
          config.mixture.corrected = json.flag("use_expert_bias", true);
          config.mixture.shareScale = static_cast<float>(json.positive("routed_scaling_factor", 1));
          setHybrid(json, namedLayers(json, "layer_types", "conv", true, config), config);
        },
};

constexpr TensorNames kQwenHybridNames = withHeadNorms(withMixer(kLlamaNames, "linear_attn."));
constexpr TensorNames kQwenHybridMixtureNames =
    changed(withExperts(kQwenHybridNames), [](TensorNames& names) {
      names.sharedUp = "mlp.shared_expert.up_proj";
      names.sharedDown = "mlp.shared_expert.down_proj";
      names.sharedGate = "mlp.shared_expert.gate_proj";
      names.sharedRouter = "mlp.shared_expert_gate";
    });
constexpr ConfigFields kQwenHybridFields{
    .ignored = "mtp_num_hidden_layers mtp_use_dedicated_embeddings mamba_ssm_dtype",
    .fixed = "attn_output_gate=true",
    .base = &kLlamaFields};

/// Reads what Qwen3-Next and Qwen3.5 share: a gated delta rule, and attention whose heads are gated, with a
/// quarter of each head rotated and norms that multiply by 1 + w.
void readQwenHybrid(const ConfigReader& json, Index kvHeads, ModelConfig& config) {
  readLlama(json, config, {.positions = 32768, .kvHeads = kvHeads, .headDim = 256, .attentionBias = false},
            {.partial = 0.25});
  config.qkNorm = QkNorm::head;
  config.normPlusOne = config.gatedHeads = true;
  config.recurrence = {.kind = Kind::delta,
                       .kernel = json.size("linear_conv_kernel_dim", 4),
                       .heads = json.size("linear_num_value_heads", 32),
                       .headDim = json.size("linear_value_head_dim", 128),
                       .groups = json.size("linear_num_key_heads", 16),
                       .state = json.size("linear_key_head_dim", 128),
                       .epsilon = config.epsilon};
  (void)evenShare(json, "linear_num_value_heads", config.recurrence.heads, "linear_num_key_heads",
                  config.recurrence.groups);
}

void setQwenHybrid(const ConfigReader& json, ModelConfig& config) {
  std::vector<bool> attends = namedLayers(json, "layer_types", "linear_attention", false, config);
  const Index every = json.size("full_attention_interval", 4);
  for (std::size_t i = 0; i < attends.size() && !json.has("layer_types"); ++i)
    attends[i] = static_cast<Index>(i + 1) % every == 0;
  setHybrid(json, attends, config);
}

// Qwen3-Next (Qwen Team 2025), with experts.
constexpr Family kQwen3Next{
    .name = "qwen3_next",
    .architecture = "Qwen3Next",
    .names = kQwenHybridMixtureNames,
    .tied = false,
    .fields = {.base = &kQwenHybridFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readQwenHybrid(json, 2, config);
          readMixture(json, {.count = 512, .used = 10, .defaultDim = 512}, config);
          config.mixture.sharedDim = json.size("shared_expert_intermediate_size", 512);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", true);
          readSparseLayers(json, config);
          setQwenHybrid(json, config);
        },
};

// Qwen3.5 (Qwen Team 2026): the same with an MLP, or with experts in all layers.
constexpr Family kQwen35{
    .name = "qwen3_5_text",
    .architecture = "Qwen3_5",
    .names = kQwenHybridNames,
    .tied = false,
    .fields = {.base = &kQwenHybridFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readQwenHybrid(json, 4, config);
          setQwenHybrid(json, config);
        },
};

constexpr Family kQwen35Moe{
    .name = "qwen3_5_moe_text",
    .architecture = "Qwen3_5Moe",
    .names = kQwenHybridMixtureNames,
    .tied = false,
    .fields = {.base = &kQwenHybridFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          ConfigReader file = json;
          file.addDefaults(R"({"intermediate_size": 1})");  // there is no other MLP
          readQwenHybrid(file, 2, config);
          readMixture(json, {.count = 256, .used = 8, .defaultDim = 512}, config);
          config.mixture.sharedDim = json.size("shared_expert_intermediate_size", 512);
          config.mixture.sumsToOne = true;
          setQwenHybrid(json, config);
        },
};

constexpr Family kHybrids[] = {kBamba,   kGraniteHybrid, kJamba,  kLfm2,
                               kLfm2Moe, kQwen3Next,     kQwen35, kQwen35Moe};

}  // namespace

std::span<const Family> hybrids() {
  return kHybrids;
}

}  // namespace headscope::attention::families

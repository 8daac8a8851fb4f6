#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "attention/models/families/hybrid_fields.h"

// Hybrids with delta rules, lightning attention or gated linear recurrences.

namespace headscope::attention::families {
namespace {

using Kind = Recurrence::Kind;

/// Layers that attend: those that layer_types names or, without it, every `every`-th.
void setInterleaved(const ConfigReader& json, Index every, Index at, ModelConfig& config) {
  std::vector<bool> attends = namedLayers(json, "layer_types", "linear_attention", false, config);
  for (std::size_t i = 0; i < attends.size() && !json.has("layer_types"); ++i)
    attends[i] = static_cast<Index>(i) % every == at;
  setHybrid(json, attends, config);
}

/// The delta rule's maps and convolutions, each in its own tensor.
constexpr RecurrentNames kDeltaNames{.out = "o_proj",
                                     .norm = "o_norm",
                                     .gate = "g_proj",
                                     .rate = "b_proj",
                                     .delta = "a_proj",
                                     .query = "q_proj",
                                     .key = "k_proj",
                                     .value = "v_proj",
                                     .queryKernel = "q_conv1d",
                                     .keyKernel = "k_conv1d",
                                     .valueKernel = "v_conv1d"};

// OLMo Hybrid (Ai2 2026): gated delta rules that may also flip what they erase, with norms before each part,
// and OLMo 2's attention.
constexpr Family kOlmoHybrid{
    .name = "olmo_hybrid",
    .architecture = "OlmoHybrid",
    .names = changed(withMixer(withHeadNorms(kLlamaNames), "linear_attn."),
                     [](TensorNames& names) {
                       names.recurrence = kDeltaNames;
                       // A file has its own names, or those of the class that reads it.
                       names.otherNorm = "input_layernorm|attention_layer_norm";
                       names.otherMlpNorm = "post_attention_layernorm|feedforward_layer_norm";
                       names.attentionNorm = names.mlpNorm = {};
                       names.afterAttentionNorm = "post_attention_layernorm|feedforward_layer_norm";
                       names.afterMlpNorm = "post_feedforward_layernorm";
                     }),
    .tied = false,
    .fields = {.ignored =
                   "linear_a_log_min linear_a_log_max linear_dt_min linear_dt_max linear_dt_init_floor",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(json, config, {.positions = 65536, .attentionBias = false});
          // A null base means no positions.
          if (!ropeOf(json).isNull("rope_theta")) readRotation(json, {}, config);
          config.order = BlockOrder::around;
          config.qkNorm = QkNorm::whole;
          const Index groups = json.size("linear_num_key_heads", config.heads),
                      heads = json.size("linear_num_value_heads", config.heads),
                      state = json.size("linear_key_head_dim",
                                        std::max<Index>(3 * config.modelDim / (4 * groups), 1));
          config.recurrence = {.kind = Kind::delta,
                               .kernel = json.size("linear_conv_kernel_dim", 4),
                               .heads = heads,
                               .headDim = json.size("linear_value_head_dim", 2 * state),
                               .groups = groups,
                               .state = state,
                               .rateScale = json.flag("linear_allow_neg_eigval", true) ? 2.0F : 1.0F};
          (void)evenShare(json, "linear_num_value_heads", heads, "linear_num_key_heads", groups);
          setInterleaved(json, 4, 3, config);
        },
};

// Kimi Linear (Moonshot AI 2025): delta rules that decay each channel apart, and latent attention without
// positions, with DeepSeek V3's experts.
constexpr TensorNames kKimiLinearNames =
    changed(withMixer(withLatents(kLlamaNames), "self_attn."), [](TensorNames& names) {
      names.recurrence = kDeltaNames;
      names.recurrence.deltaDown = "f_a_proj";
      names.recurrence.delta = "f_b_proj";
      names.recurrence.gateDown = "g_a_proj";
      names.recurrence.gate = "g_b_proj";
      names.router = "block_sparse_moe.gate";
      names.routerCorrection = "block_sparse_moe.gate.e_score_correction_bias";
      names.expertGate = "block_sparse_moe.experts.E.w1";
      names.expertDown = "block_sparse_moe.experts.E.w2";
      names.expertUp = "block_sparse_moe.experts.E.w3";
      names.sharedUp = "block_sparse_moe.shared_experts.up_proj";
      names.sharedDown = "block_sparse_moe.shared_experts.down_proj";
      names.sharedGate = "block_sparse_moe.shared_experts.gate_proj";
    });

/// Adds the fields that Kimi's files call otherwise, under the names of DeepSeek's.
void addKimiFields(ConfigReader& json) {
  static constexpr std::pair<std::string_view, std::string_view> kSizes[] = {
      {"num_experts_per_token", "num_experts_per_tok"}, {"num_expert_group", "n_group"},
      {"num_shared_experts", "n_shared_experts"},       {"num_experts", "n_routed_experts"},
      {"num_local_experts", "n_routed_experts"},        {"model_max_length", "max_position_embeddings"}};
  for (const auto& [own, other] : kSizes)
    if (json.has(own)) json.addDefaults(fmt::format(R"({{"{}": {}}})", other, json.size(own, {}, 0)));
  if (json.has("moe_renormalize"))
    json.addDefaults(fmt::format(R"({{"norm_topk_prob": {}}})", json.flag("moe_renormalize", true)));
}

/// Which layers attend, by the lists of linear_attn_config, which count from 1.
std::vector<bool> kimiLayers(const ConfigReader& json, const ModelConfig& config) {
  std::vector<bool> attends = namedLayers(json, "layer_types", "linear_attention", false, config);
  if (json.has("layer_types")) return attends;
  const ConfigReader lists = json.object("linear_attn_config");
  const bool listed = lists.has("full_attn_layers");
  const std::vector<Index> full = lists.tokens("full_attn_layers");
  (void)lists.tokens("kda_layers");
  for (std::size_t i = 0; i < attends.size(); ++i)
    attends[i] =
        listed ? std::ranges::find(full, static_cast<Index>(i) + 1) != full.end() : i > 0 && i % 4 == 0;
  return attends;
}

constexpr Family kKimiLinear{
    .name = "kimi_linear",
    .architecture = "KimiLinear",
    .names = kKimiLinearNames,
    .tied = false,
    .fields = {.ignored = "qk_head_dim head_dim num_key_value_heads rope_theta rope_scaling rope_parameters "
                          "num_nextn_predict_layers moe_layer_freq",
               .fixed = "mla_use_nope=true use_grouped_topk=true moe_router_activation_func=\"sigmoid\"",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          ConfigReader file = json;
          addKimiFields(file);
          readLlamaSizes(json, config, {.positions = 1048576, .headDim = 1, .epsilon = 1e-5});
          readLatent(json, false, config, {.queryRank = 0});
          config.rotations.clear();
          for (LayerKind& layer : config.layers) layer.rotation.reset();
          readCorrected(json, {.experts = 256, .used = 8, .innerDim = 1024, .shareScale = 2.446}, config);
          readMlpLayerTypes(json, config);
          const ConfigReader linear = json.object("linear_attn_config");
          const Index size = linear.size("head_dim", json.size("linear_head_dim", 128)),
                      heads = linear.size("num_heads", json.size("linear_num_heads", 32));
          config.recurrence = {
              .kind = Kind::delta,
              .kernel = linear.size("short_conv_kernel_size", json.size("linear_conv_kernel_dim", 4)),
              .heads = heads,
              .headDim = size,
              .groups = heads,
              .state = size,
              .epsilon = config.epsilon,
              .perChannel = true,
              .sigmoidGate = true};
          setHybrid(json, kimiLayers(json, config), config);
        },
};

// MiniMax-Text-01 (MiniMax 2025): lightning attention, and softmax attention in some layers, which norm the
// stream itself; Mixtral's experts.
constexpr Family kMiniMax{
    .name = "minimax",
    .architecture = "MiniMax",
    .names = changed(withMixer(withSparseExperts(kLlamaNames), "self_attn."),
                     [](TensorNames& names) {
                       names.recurrence = {.norm = "norm", .joined = "qkv_proj", .gate = "output_gate"};
                       names.recurrence.out = "out_proj";
                     }),
    .tied = false,
    .fields = {.ignored = "block_size router_jitter_noise",
               .fixed = "hidden_act=\"silu\"",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 131072, .kvHeads = 8, .epsilon = 1e-5}, {.theta = 1e6});
          readOptionalWindow(json, config);
          readMixture(
              json, {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 8, .used = 2},
              config);
          config.mixture.sumsToOne = true;
          config.order = BlockOrder::normed;
          const auto factor = [&](const char* key) { return static_cast<float>(json.positive(key, 1)); };
          config.factors = {.attention = factor("full_attn_beta_factor"),
                            .recurrence = factor("linear_attn_beta_factor"),
                            .mlp = factor("mlp_beta_factor"),
                            .besideAttention = factor("full_attn_alpha_factor"),
                            .besideRecurrence = factor("linear_attn_alpha_factor"),
                            .besideMlp = factor("mlp_alpha_factor")};
          config.recurrence = {.kind = Kind::lightning,
                               .heads = config.heads,
                               .headDim = config.headDim,
                               .groups = config.heads,
                               .state = config.headDim,
                               .epsilon = 1e-6};
          setInterleaved(json, 2, 0, config);
        },
};

/// A number as bfloat16 holds it, to the nearest, ties to even.
float asHalf(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7FFF + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xFFFF0000);
}

// RecurrentGemma (Botev et al. 2024): gated linear recurrences, and attention with a window in every third
// layer, half of each head rotated.
constexpr Family kRecurrentGemma{
    .name = "recurrent_gemma",
    .architecture = "RecurrentGemma",
    .names = changed(withMixer(kLlamaNames, "temporal_block."),
                     [](TensorNames& names) {
                       names.recurrence = {.in = "linear_x",
                                           .out = "linear_out",
                                           .kernel = "conv_1d",
                                           .decay = "rg_lru.recurrent_param",
                                           .gate = "linear_y",
                                           .inputGate = "rg_lru.input_gate",
                                           .decayGate = "rg_lru.recurrent_gate"};
                       names.q = "temporal_block.q_proj";
                       names.k = "temporal_block.k_proj";
                       names.v = "temporal_block.v_proj";
                       names.o = "temporal_block.o_proj";
                       names.up = "mlp_block.up_proj";
                       names.down = "mlp_block.down_proj";
                       names.gate = "mlp_block.gate_proj";
                       names.attentionNorm = "temporal_pre_norm";
                       names.mlpNorm = "channel_pre_norm";
                       names.finalNorm = "final_norm";
                     }),
    .fields = {.ignored = "w_init_variance_scale final_w_init_variance_scale layers_block_type layer_types "
                          "_block_types embeddings_scale_by_sqrt_dim hidden_act",
               .fixed = "hidden_activation=\"gelu_pytorch_tanh\"",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = kMaxPositions, .epsilon = 1e-6, .attentionBias = false},
                    {.partial = 0.5});
          config.activation = Activation::geluTanh;
          config.innerDim = evenShare(json, "intermediate_size", config.innerDim, "2", 2);
          config.outputBias = config.mlpBias = config.normPlusOne = true;
          config.embeddingScale = asHalf(static_cast<float>(std::sqrt(static_cast<double>(config.modelDim))));
          config.finalSoftcap = static_cast<float>(json.positive("logits_soft_cap", 30));
          const Index width = json.size("lru_width", config.modelDim);
          config.recurrence = {
              .kind = Kind::gatedLinear,
              .kernel = json.size("conv1d_width", 4),
              .heads = config.heads,
              .headDim = evenShare(json, "lru_width", width, "num_attention_heads", config.heads),
              .groups = config.heads,
              .bias = true,
              .kernelBias = true,
              .outBias = true};
          const Index window = json.size("attention_window_size", 2048, 1, kMaxPositions);
          std::vector<std::string> kinds = json.texts("block_types");
          if (kinds.empty()) kinds = {"recurrent", "recurrent", "attention"};
          std::vector<bool> attends;
          for (std::size_t i = 0; i < config.layers.size(); ++i) {
            attends.push_back(kinds[i % kinds.size()] != "recurrent");
            config.layers[i].window = window;
          }
          setHybrid(json, attends, config);
        },
};

constexpr Family kLinearHybrids[] = {kOlmoHybrid, kKimiLinear, kMiniMax, kRecurrentGemma};

}  // namespace

std::span<const Family> linearHybrids() {
  return kLinearHybrids;
}

}  // namespace headscope::attention::families

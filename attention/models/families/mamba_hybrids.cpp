#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/families/hybrid_fields.h"

// Hybrids with Mamba-2 beside attention, or in layers of one part each.

namespace headscope::attention::families {
namespace {

/// Reads `count` factors, 1 if the file has none.
std::vector<double> readFactors(const ConfigReader& json, std::string_view key, Index count) {
  return json.has(key) ? json.numbers(key, count, true) : std::vector<double>(asSize(count), 1);
}

float readFactor(const ConfigReader& json, std::string_view key) {
  return static_cast<float>(json.positive(key, 1));
}

/// Reads the factors of Falcon-H1's parts. Those on keys act on scores.
void readFalconFactors(const ConfigReader& json, ModelConfig& config) {
  const std::vector<double> mlp = readFactors(json, "mlp_multipliers", 2),
                            parts = readFactors(json, "ssm_multipliers", 5);
  config.factors = {.attentionIn = readFactor(json, "attention_in_multiplier"),
                    .recurrenceIn = readFactor(json, "ssm_in_multiplier"),
                    .attention = readFactor(json, "attention_out_multiplier"),
                    .recurrence = readFactor(json, "ssm_out_multiplier"),
                    .mlp = static_cast<float>(mlp[1])};
  config.gateFactor = static_cast<float>(mlp[0]);
  for (std::size_t i = 0; i < parts.size(); ++i) config.recurrence.factors[i] = static_cast<float>(parts[i]);
  config.embeddingScale = readFactor(json, "embedding_multiplier");
  config.logitScale = readFactor(json, "lm_head_multiplier");
  const float key = readFactor(json, "key_multiplier");
  for (LayerKind& layer : config.layers) layer.scale *= key;
}

// Falcon-H1 (TII 2025): every layer adds Mamba-2 and attention of the same norm.
constexpr Family kFalconH1{
    .name = "falcon_h1",
    .architecture = "FalconH1",
    .names = kFeedForwardNames,
    .tied = false,
    .fields = {.ignored = "mamba_use_mlp mlp_expansion_factor attn_layer_indices mamba_use_kernels",
               .base = &kMambaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 8192, .kvHeads = 8, .epsilon = 1e-5, .attentionBias = false});
          config.mlpBias = json.flag("mlp_bias", false);
          readMamba2(
              json, config,
              json.isNull("mamba_d_ssm") ? std::nullopt : std::optional(json.size("mamba_d_ssm", 1024)));
          Recurrence& how = config.recurrence;
          how.normed = json.flag("mamba_rms_norm", false);
          how.normsFirst = json.flag("mamba_norm_before_gate", true);
          how.outBias = json.flag("projectors_bias", false);
          readFalconFactors(json, config);
          for (LayerKind& layer : config.layers) layer.recurs = true;
          config.notes.emplace_back(
              "In every layer, a part that carries a state from token to token is added to the attention.");
        },
};

constexpr std::string_view kBackbonePrefixes[] = {"backbone.", "model.", ""};

/// The kind of each layer: M for Mamba-2, * for attention, - for an MLP, E for experts.
std::string nemotronLayers(const ConfigReader& json) {
  const std::string pattern = json.text("hybrid_override_pattern", "ME*-");
  const char* key = "layers_block_type";
  std::vector<std::string> names = json.texts(key);
  const std::vector<std::string> others = json.texts("layer_types");
  if (names.empty()) names = others, key = "layer_types";
  if (names.empty()) return pattern;
  std::string kinds;
  for (const std::string& name : names) {
    static constexpr std::pair<std::string_view, char> kNames[] = {
        {"linear_attention", 'M'}, {"mamba", 'M'}, {"full_attention", '*'},
        {"attention", '*'},        {"mlp", '-'},   {"moe", 'E'}};
    const auto found = std::ranges::find_if(kNames, [&](const auto& known) { return known.first == name; });
    if (found == std::end(kNames))
      json.refuse(key, quotedText(name), "linear_attention, full_attention, mlp or moe");
    else
      kinds += found->second;
  }
  return kinds;
}

/// Gives each layer its one part.
void setNemotronLayers(const ConfigReader& json, const std::string& kinds, ModelConfig& config) {
  std::vector<bool> attends;
  std::vector<OtherLayer> others;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const char kind = kinds[i];
    if (std::string_view("M*-E").find(kind) == std::string_view::npos)
      json.refuse("hybrid_override_pattern", quotedText(kinds), "only M, *, - and E");
    attends.push_back(kind == '*');
    others.push_back({static_cast<Index>(i), kind == 'E', kind == 'M', kind != 'M'});
    config.layers[i].feeds = config.layers[i].mixture = false;
  }
  setHybrid(json, attends, others, config);
}

// Nemotron-H and Nemotron 3 (NVIDIA 2025): each layer has one part, Mamba-2, attention without positions, an
// MLP with a squared ReLU, or experts with such MLPs.
constexpr Family kNemotronH{
    .name = "nemotron_h",
    .architecture = "NemotronH",
    .prefixes = kBackbonePrefixes,
    .names = changed(withMixer(kLlamaNames, "mixer."),
                     [](TensorNames& names) {
                       names.embedding = "embeddings";
                       names.q = "mixer.q_proj";
                       names.k = "mixer.k_proj";
                       names.v = "mixer.v_proj";
                       names.o = "mixer.o_proj";
                       names.up = "mixer.up_proj";
                       names.down = "mixer.down_proj";
                       names.gate = {};
                       names.router = "mixer.gate";
                       names.routerCorrection = "mixer.gate.e_score_correction_bias";
                       names.expertUp = "mixer.experts.E.up_proj";
                       names.expertDown = "mixer.experts.E.down_proj";
                       names.sharedUp = "mixer.shared_experts.up_proj";
                       names.sharedDown = "mixer.shared_experts.down_proj";
                       names.expertsIn = "mixer.fc1_latent_proj";
                       names.expertsOut = "mixer.fc2_latent_proj";
                       names.attentionNorm = names.mlpNorm = "norm";
                       names.finalNorm = "norm_f";
                     }),
    .tied = false,
    .fields = {.ignored =
                   "attention_bias sliding_window expand mamba_proj_bias time_step_max time_step_floor "
                   "time_step_limit time_step_rank chunk_size use_mamba_kernels num_logits_to_keep "
                   "mamba_ssm_cache_dtype residual_in_fp32 rescale_prenorm_residual num_hidden_layers "
                   "num_nextn_predict_layers mtp_layers_block_type mtp_hybrid_override_pattern "
                   "moe_shared_expert_overlap rope_theta partial_rotary_factor rms_norm_eps "
                   "attention_head_dim",
               .fixed = "mamba_hidden_act=\"silu\"",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          const std::string kinds = nemotronLayers(json);
          ConfigReader file = json;
          file.addDefaults(R"({"num_hidden_layers": 1, "intermediate_size": 21504})");
          readLlamaSizes(json, config, {.positions = 4096, .kvHeads = 8, .headDim = 128});
          addLayers(config, std::clamp<Index>(std::ssize(kinds), 1, kMaxLayers));
          config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
          config.activation = readActivation(json, "mlp_hidden_act", "relu2");
          config.gated = false;
          config.mlpBias = json.flag("mlp_bias", false);
          if (kinds.find('E') != kinds.npos) {
            readCorrected(json, {.experts = 8, .used = 2, .innerDim = 7688, .dense = 0}, config);
            config.mixture.sharedDim = json.size("moe_shared_expert_intermediate_size", 7688);
            config.mixture.latentDim = json.optionalSize("moe_latent_size").value_or(0);
            json.expect("mlp_bias", "false");
          }
          const bool bias = json.flag("use_bias", false);
          config.recurrence = {.kind = Recurrence::Kind::mamba2,
                               .kernel = json.size("conv_kernel", 4),
                               .heads = json.size("mamba_num_heads", 128),
                               .headDim = json.size("mamba_head_dim", 64),
                               .groups = json.size("n_groups", 8),
                               .state = json.size("ssm_state_size", 128),
                               .bias = bias,
                               .kernelBias = json.flag("use_conv_bias", true),
                               .outBias = bias,
                               .epsilon = config.epsilon,
                               .leastStep = static_cast<float>(json.positive("time_step_min", 0.001))};
          (void)evenShare(json, "mamba_num_heads", config.recurrence.heads, "n_groups",
                          config.recurrence.groups);
          if (std::ssize(kinds) == config.layerCount()) setNemotronLayers(json, kinds, config);
        },
};

constexpr Family kMambaHybrids[] = {kFalconH1, kNemotronH};

}  // namespace

std::span<const Family> mambaHybrids() {
  return kMambaHybrids;
}

}  // namespace headscope::attention::families

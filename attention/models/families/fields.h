#pragma once

#include <optional>
#include <string_view>

#include "attention/models/config/families.h"

// What the config.json files of several families have in common.

namespace headscope::attention::families {

inline constexpr std::string_view kTransformerPrefixes[] = {"transformer.", ""},
                                  kBertPrefixes[] = {"bert.", ""}, kRobertaPrefixes[] = {"roberta.", ""};

/// The names that BART, OPT and its descendants share.
inline constexpr TensorNames kOptNames{.embedding = "embed_tokens",
                                       .layer = "layers.N.",
                                       .q = "self_attn.q_proj",
                                       .k = "self_attn.k_proj",
                                       .v = "self_attn.v_proj",
                                       .o = "self_attn.out_proj",
                                       .up = "fc1",
                                       .down = "fc2",
                                       .attentionNorm = "self_attn_layer_norm",
                                       .mlpNorm = "final_layer_norm",
                                       .finalNorm = "layer_norm",
                                       .head = "lm_head"};

/// The names that BERT and its descendants share.
inline constexpr TensorNames kBertNames{.embedding = "embeddings.word_embeddings",
                                        .positions = "embeddings.position_embeddings",
                                        .tokenTypes = "embeddings.token_type_embeddings",
                                        .embeddingNorm = "embeddings.LayerNorm",
                                        .layer = "encoder.layer.N.",
                                        .q = "attention.self.query",
                                        .k = "attention.self.key",
                                        .v = "attention.self.value",
                                        .o = "attention.output.dense",
                                        .up = "intermediate.dense",
                                        .down = "output.dense",
                                        .attentionNorm = "attention.output.LayerNorm",
                                        .mlpNorm = "output.LayerNorm",
                                        .head = "cls.predictions.decoder",
                                        .headDense = "cls.predictions.transform.dense",
                                        .headNorm = "cls.predictions.transform.LayerNorm",
                                        .headBias = "cls.predictions.bias"};

/// Has RoBERTa's head.
constexpr TensorNames withRobertaHead(TensorNames names) {
  names.head = "lm_head.decoder";
  names.headDense = "lm_head.dense";
  names.headNorm = "lm_head.layer_norm";
  names.headBias = "lm_head.bias";
  return names;
}

/// Adds norms of each head's queries and keys.
constexpr TensorNames withHeadNorms(TensorNames names) {
  names.qNorm = "self_attn.q_norm";
  names.kNorm = "self_attn.k_norm";
  return names;
}
/// Adds a mixture of experts, which a layer may have instead of the MLP.
constexpr TensorNames withExperts(TensorNames names) {
  names.router = "mlp.gate";
  names.expertUp = "mlp.experts.E.up_proj";
  names.expertDown = "mlp.experts.E.down_proj";
  names.expertGate = "mlp.experts.E.gate_proj";
  return names;
}

/// Adds experts of DeepSeek V3's kind: a correction of the router's scores, and experts for every token.
constexpr TensorNames withRoutedExperts(TensorNames names) {
  names = withExperts(names);
  names.routerCorrection = "mlp.gate.e_score_correction_bias";
  names.sharedUp = "mlp.shared_experts.up_proj";
  names.sharedDown = "mlp.shared_experts.down_proj";
  names.sharedGate = "mlp.shared_experts.gate_proj";
  return names;
}
/// Adds Mixtral's experts, instead of the MLP.
constexpr TensorNames withSparseExperts(TensorNames names) {
  names.up = names.down = names.gate = {};
  names.router = "block_sparse_moe.gate";
  names.expertGate = "block_sparse_moe.experts.E.w1";
  names.expertDown = "block_sparse_moe.experts.E.w2";
  names.expertUp = "block_sparse_moe.experts.E.w3";
  return names;
}
/// Granite's mixture, with an MLP that every token passes.
inline constexpr TensorNames kGraniteMixtureNames =
    changed(withSparseExperts(kLlamaNames), [](TensorNames& names) {
      names.router = "block_sparse_moe.router.layer";
      names.expertGateThenUp = "block_sparse_moe.input_linear";
      names.expertDown = "block_sparse_moe.output_linear";
      names.expertUp = names.expertGate = {};
      names.sharedGateUp = "shared_mlp.input_linear";
      names.sharedDown = "shared_mlp.output_linear";
    });
/// Has only the MLP's up and down.
constexpr TensorNames withoutGate(TensorNames names) {
  names.gate = {};
  return names;
}
/// Latent attention, and the norms of its latents.
constexpr TensorNames withLatents(TensorNames names) {
  names.k = names.v = {};
  names.queryDown = "self_attn.q_a_proj";
  names.queryDownNorm = "self_attn.q_a_layernorm";
  names.queryUp = "self_attn.q_b_proj";
  names.latentDown = "self_attn.kv_a_proj_with_mqa";
  names.latentNorm = "self_attn.kv_a_layernorm";
  names.latentUp = "self_attn.kv_b_proj";
  return names;
}

/// Returns size / count, such as a head's share of the width. Refuses a remainder.
Index evenShare(const ConfigReader& json, std::string_view whole, Index size, std::string_view parts,
                Index count);

/// Reads what BERT and RoBERTa share: no causal mask unless it is a decoder, LayerNorm after each part,
/// learned positions from row `firstPosition` on, and token types.
void readBertFields(const ConfigReader& json, Index firstPosition, ModelConfig& config);
/// Reads these with positions after that of the padding token, and the head's GELU.
void readRobertaFields(const ConfigReader& json, ModelConfig& config);
extern const ConfigFields kBertFields;

/// Reads the token that a decoder begins with: decoder_start_token_id, else `defaultValue`. Refuses one
/// outside the vocabulary.
void readStartToken(const ConfigReader& json, Index defaultValue, ModelConfig& config);

/// Values for missing fields, from the family's configuration class; nothing: the file must have the field.
struct LlamaDefaults {
  Index positions;
  std::optional<Index> heads = {}, vocabulary = {};
  std::optional<Index> kvHeads = {};  ///< nothing, or null in the file: one per head
  std::optional<Index> headDim = {};  ///< nothing: an equal share of the width
  double epsilon = 1e-6;
  std::optional<bool> attentionBias = {};  ///< of queries, keys, values and outputs; nothing: not a field
  std::string_view activation = "silu";
};
/// Reads hidden_size, intermediate_size, vocab_size, num_attention_heads, num_key_value_heads, head_dim,
/// num_hidden_layers, hidden_act, rms_norm_eps, attention_bias and positions; all layers are full with scale
/// 1/√head_dim, with RMS norms and a gated MLP as in Llama.
void readLlamaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults);

/// The fields of the sizes that nearly all files have, and the values if they are missing; nothing: the file
/// must have the field.
struct SizeFields {
  std::string_view width = "hidden_size", heads = "num_attention_heads", layers = "num_hidden_layers";
  std::optional<Index> usualWidth = {}, usualHeads = {}, usualLayers = {}, vocabulary = {};
};
/// Reads these and vocab_size. Each head has an equal share of the width and its own keys; layers are as
/// addLayers() makes them.
void readSizes(const ConfigReader& json, const SizeFields& fields, ModelConfig& config);

/// Sets `count` layers, each with scale 1/√headDim.
void addLayers(ModelConfig& config, Index count);

/// Reads gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, quick_gelu, silu, swish, relu or relu2; an error lists
/// these. Reads xielu, too, if it is the default: its numbers are tensors, which other families lack.
Activation readActivation(const ConfigReader& json, std::string_view key, std::string_view defaultValue);

/// Defaults for readRotation(), which reads rope_scaling or else rope_parameters, as transformers does, and
/// then the top level. It sets config.rotations to one rotation for all layers.
struct RopeDefaults {
  double theta = 10000;
  std::optional<double> partial = {};        ///< rotated share of a head; none: always all of it
  std::string_view thetaKey = "rope_theta";  ///< at the top level
  std::string_view partialKey = "partial_rotary_factor";
};
void readRotation(const ConfigReader& json, const RopeDefaults& defaults, ModelConfig& config);
/// Returns the object rope_scaling or, unless it has fields, rope_parameters.
ConfigReader ropeOf(const ConfigReader& json);
/// Makes the JSON object `rope` the file's rope_parameters if it has neither these nor rope_scaling.
void addRope(const ConfigReader& json, std::string_view rope);
/// Reads the windows of EXAONE 4; if it has any, the layers without one aren't rotated.
void readExaoneWindows(const ConfigReader& json, ModelConfig& config);
/// Reads Llama's sizes and a rotation for all layers.
void readLlama(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults,
               const RopeDefaults& rope = {});
/// Reads rotations[0] for full layers and [1] for those with a window, with base `local`. Newer files nest
/// one set of fields per kind; if there is also a rope_scaling, it replaces the full layers' set.
void readRotations(const ConfigReader& json, const RopeDefaults& defaults, double local, ModelConfig& config);
/// Reads a rotation from one set of fields, `rope`. Without `partial`, refuses a share other than 1, since
/// transformers doesn't follow it in such a family.
Rotation rotationOf(const ConfigReader& json, const ConfigReader& rope, double theta,
                    std::optional<double> partial, ModelConfig& config);

/// The fields that describe a file's experts, and the values if they are missing.
struct MixtureKeys {
  std::string_view experts = "num_experts", innerDim = "moe_intermediate_size";
  Index count, used, defaultDim = 0;  ///< 0: the file must give it
};
/// Fills config.mixture and makes all layers use it.
void readMixture(const ConfigReader& json, const MixtureKeys& keys, ModelConfig& config);

/// Makes every decoder_sparse_step-th layer a mixture, except those in mlp_only_layers.
void readSparseLayers(const ConfigReader& json, ModelConfig& config);

/// Values for missing fields of DeepSeek's mixtures, from the configuration classes.
struct RoutedDefaults {
  Index experts = 0, used = 0;  ///< 0: the file must have the field
  Index innerDim, shared = 1, groups = 1, groupsUsed = 1, dense = 1;
  double shareScale = 1;
  bool sumsToOne = true;
  std::string_view expertsKey = "n_routed_experts", sharedKey = "n_shared_experts",
                   scaleKey = "routed_scaling_factor";
};
/// Reads which layers are mixtures, and their experts.
void readRouted(const ConfigReader& json, const RoutedDefaults& defaults, ModelConfig& config);
/// Reads groups of experts, whose scores are the sums of their `groupBest` best, if it is `grouped`.
void readGroups(const ConfigReader& json, const RoutedDefaults& defaults, Index groupBest, bool grouped,
                Mixture& mixture);
/// Reads DeepSeek V3's mixture: σ as score, corrected scores and groups.
void readCorrected(const ConfigReader& json, const RoutedDefaults& defaults, ModelConfig& config);
/// The sizes of latent attention that a configuration class assumes; queryRank 0: null.
struct LatentDefaults {
  Index rank = 512, queryRank = 1536, rope = 64, value = 128, plain = 128;
};
/// Reads latent attention and the rotation of a head's last qk_rope_head_dim dimensions.
void readLatent(const ConfigReader& json, bool interleaved, ModelConfig& config,
                const LatentDefaults& defaults = {});
/// The fields of DeepSeek and its descendants.
extern const ConfigFields kDeepSeekFields;

/// Reads Granite's factors on embeddings, scores, layer outputs and logits.
void readGraniteFactors(const ConfigReader& json, ModelConfig& config);

/// Reads Granite's mixture of experts.
void readGraniteMixture(const ConfigReader& json, ModelConfig& config);

/// Reads sliding_window, at least `low`; nothing if it is null.
std::optional<Index> readWindow(const ConfigReader& json, Index defaultValue, Index low = 1);
/// Gives all layers the window in sliding_window, if the file has one.
void readOptionalWindow(const ConfigReader& json, ModelConfig& config);
/// Sets windows of `window` keys on the layers that are "sliding_attention" in `layer_types` or, if that is
/// absent, on those that `defaultValue` picks. Refuses such layers if there is no window.
void readWindows(const ConfigReader& json, std::optional<Index> window,
                 bool (*defaultValue)(Index layer, Index of), Index of, ModelConfig& config);
/// For readWindows(): all layers but every `of`-th, every other one from the first, or all from `of` on.
inline bool allButEvery(Index layer, Index of) {
  return (layer + 1) % of != 0;
}
inline bool everyOther(Index layer, Index) {
  return layer % 2 == 0;
}
inline bool allFrom(Index layer, Index of) {
  return layer >= of;
}
/// no_rope_layers has 1 for each rotated layer; if absent, all but every no_rope_layer_interval-th are
/// rotated.
void readUnrotated(const ConfigReader& json, ModelConfig& config);
/// mlp_layer_types, if present, says which layers are mixtures.
void readMlpLayerTypes(const ConfigReader& json, ModelConfig& config);
/// Windows only with use_sliding_window, on the layers that `picks` names by their number and
/// max_window_layers, unless layer_types says which.
void readQwenWindows(const ConfigReader& json, ModelConfig& config, Index maxWindowLayers = 28,
                     bool (*picks)(Index layer, Index bound) = allFrom);

}  // namespace headscope::attention::families

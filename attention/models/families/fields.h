#pragma once

#include <string_view>

#include "attention/models/config/families.h"

// What several families' config.json have in common.

namespace headscope::attention::families {

inline constexpr std::string_view kNoPrefix[] = {""};

/// The names that Llama and its descendants share.
inline constexpr TensorNames kLlamaNames{.embedding = "embed_tokens",
                                         .layer = "layers.N.",
                                         .q = "self_attn.q_proj",
                                         .k = "self_attn.k_proj",
                                         .v = "self_attn.v_proj",
                                         .o = "self_attn.o_proj",
                                         .up = "mlp.up_proj",
                                         .down = "mlp.down_proj",
                                         .gate = "mlp.gate_proj",
                                         .attentionNorm = "input_layernorm",
                                         .mlpNorm = "post_attention_layernorm",
                                         .finalNorm = "norm",
                                         .head = "lm_head"};
/// With a norm of each head's queries and keys.
constexpr TensorNames withHeadNorms(TensorNames names) {
  names.qNorm = "self_attn.q_norm";
  names.kNorm = "self_attn.k_norm";
  return names;
}
/// With a mixture of experts beside the MLP, which a layer may have instead.
constexpr TensorNames withExperts(TensorNames names) {
  names.router = "mlp.gate";
  names.expertUp = "mlp.experts.E.up_proj";
  names.expertDown = "mlp.experts.E.down_proj";
  names.expertGate = "mlp.experts.E.gate_proj";
  return names;
}
inline constexpr std::string_view kLlamaPrefixes[] = {"model.", ""};

/// Where two sizes are needed to make a third: heads that divide the width.
Index evenShare(const ConfigReader& json, std::string_view whole, Index size, std::string_view parts,
                Index count);

/// The token that a decoder begins with: decoder_start_token_id, else `standard`; refused beyond the
/// vocabulary.
void readStartToken(const ConfigReader& json, Index standard, ModelConfig& config);

/// What stands where a file doesn't say, as the family's configuration class has it; nothing: it has to.
struct LlamaDefaults {
  Index positions;
  std::optional<Index> heads = {}, vocabulary = {};
  std::optional<Index> kvHeads = {};  ///< nothing, and where the file says null: one for each head
  std::optional<Index> headDim = {};  ///< nothing: an even share of the width
};
/// hidden_size, intermediate_size, vocab_size, num_attention_heads, num_key_value_heads, head_dim,
/// num_hidden_layers, hidden_act, positions; every layer full, with scale 1/√head_dim; RMS norms and a gated
/// MLP, as Llama has them.
void readLlamaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults);

/// The fields that this and readRotation() take.
extern const ConfigFields kLlamaFields;

/// `count` layers, each with scale 1/√headDim.
void addLayers(ModelConfig& config, Index count);

/// gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, quick_gelu, silu, swish, relu; errors name what there is.
Activation readActivation(const ConfigReader& json, std::string_view key, std::string_view standard);

/// What rotates positions in both spellings, rope_scaling before rope_parameters, as transformers takes them,
/// and before the top level. Fills config.rotations with one for all layers.
struct RopeDefaults {
  double theta = 10000;
  double partial = 1;                        ///< share of a head's dimensions that is turned
  std::string_view thetaKey = "rope_theta";  ///< at the top level
  std::string_view partialKey = "partial_rotary_factor";
};
void readRotation(const ConfigReader& json, const RopeDefaults& defaults, ModelConfig& config);
/// The same from one set of fields, `rope`.
Rotation rotationOf(const ConfigReader& json, const ConfigReader& rope, double theta, double partial,
                    const ModelConfig& config);

/// What a file says of its experts, where it says it, and how many there are where it doesn't.
struct MixtureKeys {
  std::string_view experts = "num_experts", innerDim = "moe_intermediate_size";
  Index count, used, standardDim = 0;  ///< a dim of 0: the file has to say it
};
/// Fills config.mixture; all layers get one.
void readMixture(const ConfigReader& json, const MixtureKeys& keys, ModelConfig& config);

/// sliding_window; nothing where it is null.
std::optional<Index> readWindow(const ConfigReader& json, Index standard);
/// Windows of `window` keys on the layers for which `layer_types` says "sliding_attention", or, where it is
/// absent, on those that `standard` picks. Refuses such layers where there is no window.
void readWindows(const ConfigReader& json, std::optional<Index> window,
                 bool (*standard)(Index layer, Index of), Index of, ModelConfig& config);
/// Qwen's: only with use_sliding_window, and from layer max_window_layers on.
void readQwenWindows(const ConfigReader& json, ModelConfig& config);

}  // namespace headscope::attention::families

#pragma once

#include "attention/models/families/fields.h"

// What the config.json files of several hybrids have in common.

namespace headscope::attention::families {

/// Leaves in config.layers those that attend, each with the others before it. `attends` has an entry a layer.
void setHybrid(const ConfigReader& json, const std::vector<bool>& attends, ModelConfig& config);
/// The same with what each of the others has.
void setHybrid(const ConfigReader& json, const std::vector<bool>& attends, const std::vector<OtherLayer>& all,
               ModelConfig& config);

/// Whether each layer attends, by their names in `key`; all do what `usual` says if it is absent.
std::vector<bool> namedLayers(const ConfigReader& json, std::string_view key, std::string_view other,
                              bool usual, const ModelConfig& config);
/// Whether each layer attends, by the numbers in `key`.
std::vector<bool> listedLayers(const ConfigReader& json, std::string_view key, const ModelConfig& config);

/// Reads a Mamba-2 mixer of `width` channels, else mamba_expand times the model's width, with the defaults of
/// Bamba and Granite.
void readMamba2(const ConfigReader& json, ModelConfig& config, std::optional<Index> width = {});

/// The names of a hybrid whose layers without attention have a mixer.
constexpr TensorNames withMixer(TensorNames names, std::string_view mixer) {
  names.recurrent = mixer;
  return names;
}

/// An MLP called feed_forward, as in Jamba, Bamba and Falcon-H1.
inline constexpr TensorNames kFeedForwardNames =
    changed(withMixer(kLlamaNames, "mamba."), [](TensorNames& names) {
      names.up = "feed_forward.up_proj";
      names.down = "feed_forward.down_proj";
      names.gate = "feed_forward.gate_proj";
      names.mlpNorm = "pre_ff_layernorm";
      names.finalNorm = "final_layernorm";
    });

inline constexpr ConfigFields kMambaFields{
    .ignored =
        "mamba_chunk_size use_mamba_kernels use_mambapy use_associative_scan num_logits_to_keep "
        "z_loss_coefficient layers_block_type layer_types",
    .fixed = "time_step_limit=[0.0,Infinity]",
    .base = &kLlamaFields};

}  // namespace headscope::attention::families

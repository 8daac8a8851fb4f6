#pragma once

#include <string_view>
#include <vector>

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_types.h"

namespace headscope::attention {

/// The parts of one layer.
struct PlannedLayer {
  enum class Inner { none, dense, experts };
  CacheKind mixer = CacheKind::full;
  Inner inner = Inner::dense;  ///< the feed-forward part
  // Sizes of this layer, where they differ from the model's; 0 = they don't.
  Index kvHeads = 0, span = 0, innerDim = 0;
  bool linear = false;  ///< a modelDim × modelDim matrix instead of attention
};

/// Returns the layers that a config.json describes, first to last, and which of them have experts. Reads
/// layer_types, hybrid_override_pattern, block_types, attn_layer_period and _offset, full_attention_interval,
/// sliding_window_pattern, layer_switch, no_rope_layers and similar fields. Records values it doesn't
/// understand as an error in `json`'s status.
std::vector<PlannedLayer> planLayers(const ConfigReader& json, const ModelType* type, Index layers,
                                     bool experts);
/// Returns the layers of `block_configs`, in which NVIDIA's Nemotron gives each its own sizes (Bercovich et
/// al. 2024, Puzzle).
std::vector<PlannedLayer> planBlocks(const ConfigReader& json, Index layers, Index heads, Index modelDim);
/// Returns the kv heads of each layer where the file lists them; else nothing.
std::vector<Index> kvHeadsByLayer(const ConfigReader& json, Index layers);
/// Returns the tokens of the model's windows or chunks; 0: it has none.
Index spanOf(const ConfigReader& json, const ModelType* type);

/// Returns the state and matrices of a recurrent layer. Refuses a type whose recurrent layers aren't known.
LayerGroup recurrentLayer(const ConfigReader& json, const ModelType* type, Index modelDim);

}  // namespace headscope::attention

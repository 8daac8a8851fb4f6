#pragma once

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
};

/// Returns the layers that a config.json describes, first to last, and which of them have experts. Reads
/// layer_types, hybrid_override_pattern, block_types, attn_layer_period and _offset, full_attention_interval,
/// sliding_window_pattern, layer_switch, no_rope_layers and similar fields. Records values it doesn't
/// understand as an error in `json`'s status.
std::vector<PlannedLayer> planLayers(const ConfigReader& json, const ModelType* type, Index layers,
                                     bool experts);
/// Returns the tokens of the model's windows or chunks; 0: it has none.
Index spanOf(const ConfigReader& json, const ModelType* type);

/// Returns the state and matrices of a recurrent layer. Refuses a type whose recurrent layers aren't known.
LayerGroup recurrentLayer(const ConfigReader& json, const ModelType* type, Index modelDim);

}  // namespace headscope::attention

#pragma once

#include <vector>

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_types.h"

namespace headscope::attention {

/// What one layer is made of.
struct PlannedLayer {
  enum class Inner { none, dense, experts };
  CacheKind mixer = CacheKind::full;
  Inner inner = Inner::dense;  ///< its feed-forward part
};

/// The layers of a config.json from the first to the last, by layer_types, hybrid_override_pattern,
/// block_types, attn_layer_period and _offset, full_attention_interval, sliding_window_pattern, layer_switch,
/// no_rope_layers and so on; and which of them have experts. `window`: tokens of windows and chunks, 0 where
/// there are none. What can't be understood is refused in `json`'s status.
std::vector<PlannedLayer> planLayers(const ConfigReader& json, const ModelType* type, Index layers,
                                     bool experts);
/// Tokens of its windows or chunks; 0: it has none.
Index spanOf(const ConfigReader& json, const ModelType* type);

/// A recurrent layer: its state and its matrices. Refuses a type whose recurrent layers aren't known.
LayerGroup recurrentLayer(const ConfigReader& json, const ModelType* type, Index modelDim);

}  // namespace headscope::attention

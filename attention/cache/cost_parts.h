#pragma once

#include "attention/cache/model_cost.h"

namespace headscope::attention {

// What bytes and operations of a model's cost are both made of.

/// GPUs that each kv head lies on. A latent is shared by all heads, so that every GPU keeps all of it.
Index copiesOf(const LayerGroup& group, Index gpus);
Index valueDimOf(const LayerGroup& group);
/// Of `group.layers` layers that keep `tokens` tokens each, and their states.
std::uint64_t groupBytes(const LayerGroup& group, Index tokens, Index batch, NumberFormat format);
/// Bytes of so many parameters of layers, of experts, and of the rest (embeddings, head, norms), in the
/// request's format.
double parameterBytes(const ModelShape& shape, const CostRequest& request, double layers, double experts,
                      double rest);
/// Of all parameters that the sizes name.
double estimatedWeightBytes(const ModelShape& shape, const CostRequest& request);

}  // namespace headscope::attention

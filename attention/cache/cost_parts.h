#pragma once

#include "attention/cache/model_cost.h"

namespace headscope::attention {

// Shared by the computations of bytes and of operations.

/// Returns the number of GPUs that store each kv head, or the latent: all heads share it, so every GPU has
/// it.
Index copiesOf(const LayerGroup& group, Index gpus);
Index valueDimOf(const LayerGroup& group);
/// Returns the bytes of `group.layers` layers that cache `tokens` tokens each, including their states.
std::uint64_t groupBytes(const LayerGroup& group, Index tokens, Index batch, NumberFormat format);
/// Returns the bytes of the given numbers of parameters of layers, experts, and the rest (embeddings, head,
/// norms), in the request's format.
double parameterBytes(const ModelShape& shape, const CostRequest& request, double layers, double experts,
                      double rest);
/// Returns the bytes of all parameters that the sizes describe.
double estimatedWeightBytes(const ModelShape& shape, const CostRequest& request);

}  // namespace headscope::attention

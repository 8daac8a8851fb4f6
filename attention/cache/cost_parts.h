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
/// Numbers of parameters by what a format may cover.
struct ParameterParts {
  double layers = 0, experts = 0;  ///< matrices of layers, without routed experts; routed experts
  double embedding = 0, head = 0;
  double others = 0;  ///< norms, biases and small tables
};
/// Returns their bytes in the request's format.
double parameterBytes(const ModelShape& shape, const CostRequest& request, const ParameterParts& parts);
/// Returns the bytes of all parameters that the sizes describe.
double estimatedWeightBytes(const ModelShape& shape, const CostRequest& request);

}  // namespace headscope::attention

#pragma once

#include <stop_token>

#include "attention/cache/number_format.h"
#include "attention/core/attention.h"

namespace headscope::attention {

/// A layer's queries, keys and values, or the inputs they are computed from.
struct RoundedInput {
  const AttentionConfig& config;
  const MaskInput& mask;
  const Projections* projections = nullptr;  ///< null = q, k and v are given
  Matrix x, context;                         ///< [n, modelDim] and [m, modelDim]; empty context = x
  Stack q, k, v;  ///< without projections: [heads, n, headDim], [kvHeads, m, headDim]
};

/// The results of a layer whose numbers are stored in a smaller format.
struct RoundedLayer {
  Stack weights;     ///< [heads, n, m]
  Stack headOutput;  ///< [heads, n, headDim]
  Matrix output;     ///< [n, modelDim]; empty without projections
};

/// Computes a layer like a machine that stores numbers in `format` and accumulates products in fp32 (like
/// tensor cores; NVIDIA 2017, "V100 GPU Architecture"). These are rounded to nearest, ties to even: the
/// inputs; the weights and biases of all four maps; q, k and v, q and k again after RoPE; every score, as
/// q·k, after the factors and after each further term, before the mask; the weights; the heads' outputs; the
/// output. The softmax is computed in fp32. With fp32, nothing is rounded. Dropout is ignored. Throws
/// std::invalid_argument for formats other than fp32, fp16 and bf16. Incomplete once `stop` is requested.
RoundedLayer roundedLayer(const RoundedInput& input, NumberFormat format, std::stop_token stop = {});

}  // namespace headscope::attention

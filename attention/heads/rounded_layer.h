#pragma once

#include <stop_token>

#include "attention/cache/number_format.h"
#include "attention/core/attention.h"

namespace headscope::attention {

/// A layer's queries, keys and values, or what they are computed from.
struct RoundedInput {
  const AttentionConfig& config;
  const MaskInput& mask;
  const Projections* projections = nullptr;  ///< null: q, k and v are given
  Matrix x, context;                         ///< [n, modelDim] and [m, modelDim]; context empty: x again
  Stack q, k, v;  ///< without projections: [heads, n, headDim], [kvHeads, m, headDim]
};

/// What a layer comes to where numbers are kept in a smaller format.
struct RoundedLayer {
  Stack weights;     ///< [heads, n, m]
  Stack headOutput;  ///< [heads, n, headDim]
  Matrix output;     ///< [n, modelDim]; empty without projections
};

/// A layer as a machine computes it whose memory holds numbers of `format` and whose multipliers add up in
/// fp32 (as tensor cores do; NVIDIA 2017, "V100 GPU Architecture"). Rounded to the nearest, ties to even,
/// are: x and the weights and biases of all four maps; q, k and v, again after RoPE; every score, as q·k,
/// after each factor and term, before the mask; the weights; the heads' outputs; the output. The softmax
/// between is taken in fp32. fp32 rounds nothing. Dropout is left out. Formats: fp32, fp16 and bf16; others
/// throw std::invalid_argument. Incomplete once `stop` is requested.
RoundedLayer roundedLayer(const RoundedInput& input, NumberFormat format, std::stop_token stop = {});

}  // namespace headscope::attention

#pragma once

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

/// Returns the weights of outputs first … first+count−1 of a map as floats, [count, in], however the
/// checkpoint stores them. Throws std::invalid_argument if the range exceeds the map.
Matrix weightRows(const MappedLinear& map, Index first, Index count);
/// Returns the biases of these outputs, [count]; zeros if the map has none.
Vector biasRows(const MappedLinear& map, Index first, Index count);
/// Returns the weights of inputs first … first+count−1, [out, count].
Matrix weightColumns(const MappedLinear& map, Index first, Index count);

}  // namespace headscope::attention

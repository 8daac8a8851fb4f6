#pragma once

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

/// The weights of outputs first … first+count−1 of a map as floats, [count, in], wherever and however the
/// checkpoint keeps them. Throws std::invalid_argument where they lie outside the map.
Matrix weightRows(const MappedLinear& map, Index first, Index count);
/// Their biases, [count]; zeros where the map has none.
Vector biasRows(const MappedLinear& map, Index first, Index count);
/// The weights of inputs first … first+count−1, [out, count].
Matrix weightColumns(const MappedLinear& map, Index first, Index count);

}  // namespace headscope::attention

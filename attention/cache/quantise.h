#pragma once

#include "attention/cache/number_format.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// The nearest number of OCP's 8-bit float E4M3 (OCP 2023, 8-bit Floating Point Specification, section 5),
/// ties to even: 4 bits of exponent with bias 7, 3 of mantissa, no infinity. What is beyond ±448 becomes
/// ±448, as caches store it; NaN stays.
float roundedToE4m3(float value);

/// Keys or values of one kv head [tokens, headDim] as they come back out of a cache of that format, whose row
/// (number_format.h) says how they are rounded.
Matrix quantised(const Eigen::Ref<const Matrix>& rows, NumberFormat format);
/// The same of all kv heads [kvHeads, tokens, headDim].
Stack quantised(const Stack& rows, NumberFormat format);

/// Bytes that many rows of one kv head's keys take, with their scales.
std::uint64_t quantisedBytes(Index rows, Index headDim, NumberFormat format);

}  // namespace headscope::attention

#pragma once

#include "attention/cache/number_format.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the nearest number in OCP's 8-bit format E4M3 (OCP 2023, 8-bit Floating Point Specification,
/// section 5), ties to even: 4 bits of exponent with bias 7, 3 of mantissa, no infinity. Values beyond ±448
/// become ±448, as in caches; NaN stays NaN.
float roundedToE4m3(float value);

/// Returns keys or values of one kv head [tokens, headDim] as read from a cache of that format, rounded as
/// its row in number_format.h defines.
Matrix quantised(const Eigen::Ref<const Matrix>& rows, NumberFormat format);
/// The same for all kv heads [kvHeads, tokens, headDim].
Stack quantised(const Stack& rows, NumberFormat format);

/// Returns the bytes of that many rows of one kv head's keys, including scales.
std::uint64_t quantisedBytes(Index rows, Index headDim, NumberFormat format);

}  // namespace headscope::attention

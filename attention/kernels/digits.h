#pragma once

#include "attention/kernels/digit_row.h"
#include "attention/kernels/linear_map.h"

namespace headscope::attention::kernels {

// An input row times weights in blocks, computed in whole numbers. A block's weights are d·q or d·q − m with
// small integers q (for the formats see weight_blocks-inl.h). Each 32 numbers of the input share a power of
// two s:
//
//   x ≈ s·D,  D = 2¹⁶·D₀ + 2⁸·D₁ + D₂,  |D| < 2²³,  each Dₖ in a signed byte,
//
// so Σ q·x = s·Σ q·D, and processors multiply four times as many bytes at a time as floats. Sums of four
// products, |Σ q·D| < 4·63·2²³, or of eight for codes up to 31, are exact in 32 bits; they are then converted
// to float and added up. For codes of eight bits, |q| ≤ 128, x has one bit less: |D| < 2²².
//
// |x − s·D| is at most s/2 ≤ 1.004·2⁻²³ (2⁻²²) times the largest of the 32 numbers, about the last bit of a
// float of that size, with either sign. The row isn't split, and floats are multiplied instead, if some
// numbers exceed their neighbours so much that the error would show, Σ|x − s·D| > 2⁻¹⁸·(Σ|x| without the
// largest of each 32), for MXFP4 2⁻²⁰, or if x has infinities or NaN. If n numbers have similar losses, a
// product is thus off by about 2⁻¹⁸/√n of Σ|w·x|, below a millionth even if one group of 32 has all the
// losses.

/// Whether this processor can compute products in whole numbers for the weight type.
bool multipliesDigits(WeightType type);

/// Splits x [in] for weights of `type`, for which multipliesDigits() is true. `in` is a multiple of 32, or of
/// 256 for blocks of 256. Returns false, with nothing usable in `to`, if whole numbers aren't exact enough.
bool splitRow(WeightType type, const float* x, std::size_t in, DigitRow& to);

/// Computes y[o] = Σ weight[o]·x for `count` outputs, without bias.
void multiplyDigits(const WeightColumns& weight, std::size_t count, const DigitRow& x, float* y);

}  // namespace headscope::attention::kernels

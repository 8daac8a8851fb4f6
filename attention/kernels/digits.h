#pragma once

#include <cstddef>

#include "attention/kernels/digit_row.h"
#include "attention/kernels/gemm_block.h"

namespace headscope::attention::kernels {

// A row of input times weights in blocks, in whole numbers. A block's weights are d·q or d·q − m with small
// whole q (weight_blocks-inl.h has the formats). Of the input, each 32 numbers share a power of two s:
//
//   x ≈ s·D,  D = 2¹⁶·D₀ + 2⁸·D₁ + D₂,  |D| < 2²³,  each Dₖ in a signed byte,
//
// so that Σ q·x = s·Σ q·D, and processors multiply bytes four times as many at a time as floats. Sums of four
// products, |Σ q·D| < 4·63·2²³, or of eight with codes up to 31, are exact in 32 bits; they become floats there
// and are added up as such. For codes of eight bits, |q| ≤ 128, one bit less is taken of x: |D| < 2²².
//
// x − s·D is at most s/2 ≤ 1.004·2⁻²³ (2⁻²²) of the greatest of its 32 numbers, about what the last bit of a
// float of that size is worth, and of either sign. Where numbers so dwarf their neighbours that this would
// show, Σ|x − s·D| > 2⁻¹⁸·(Σ|x| without the greatest of each 32), for MXFP4 2⁻²⁰, and where x has infinities
// or NaN, the row isn't split, and floats are multiplied. With n numbers whose losses are about the same, a
// product is then off by about 2⁻¹⁸/√n of Σ|w·x|, below a millionth even if one group of 32 has all the
// losses.

/// Whether this processor has a product in whole numbers for weights of the type.
bool multipliesDigits(WeightType type);

/// x [in] for weights of `type`, of which `multipliesDigits`; `in`: a multiple of 32, of 256 for blocks of
/// 256. False, and nothing usable, where whole numbers aren't exact enough.
bool splitRow(WeightType type, const float* x, std::size_t in, DigitRow& to);

/// y[o] = Σ weight[o]·x for `count` outputs, without bias.
void multiplyDigits(const WeightColumns& weight, std::size_t count, const DigitRow& x, float* y);

}  // namespace headscope::attention::kernels

#pragma once

#include <span>

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the sinusoidal position encodings of positions first … first+count−1, [count, dim]: sin and cos of
/// p/10000^(2t/dim) in dimensions 2t and 2t+1 (Vaswani et al. 2017, section 3.5).
Matrix sinusoidalPositions(Index first, Index count, Index dim);

/// Rotates every row of x [n, headDim] in place by its position first+row: dimension t is paired
/// with t + headDim/2 at angle position · theta^(−2t/headDim) (Su et al. 2021, half-split pairing).
void applyRope(MutableMatrixView x, Index first, double theta);

/// Returns the cosines (first half of each row) and sines (second half) of the angles for positions
/// first … first+count−1, [count, headDim]. The same table serves every head.
Matrix ropeTable(Index first, Index count, Index headDim, double theta);
/// Rotates x [n, headDim] in place by a table [n, headDim].
void applyRope(MutableMatrixView x, const Matrix& table);

/// Returns ALiBi's slope for each head: 2^(−8(h+1)/H) if H is a power of two; otherwise, as published, the
/// slopes of the next lower power followed by every other slope of the next higher one (Press et al. 2022).
/// `most`: instead of 8.
std::vector<float> alibiSlopes(Index heads, double most = 8);

/// Returns T5's bucket of a key `back` positions before its query (negative: after it): exact up to half
/// of the buckets of its direction, then logarithmic up to maxDistance, beyond which all share the last.
Index t5Bucket(const BucketBias& bias, Index back);
/// Returns each head's number for each bucket, [heads, buckets].
Matrix t5Values(const BucketBias& bias, Index heads);

/// Writes what ALiBi adds to a head's scores for a key `back` positions before its query (negative: after it)
/// and for the keys that follow it: back − 1, back − 2 …
void alibiBiases(const AttentionConfig& config, Index head, Index back, std::span<float> to);
/// The same for T5.
void t5Biases(const BucketBias& bias, Index head, Index back, std::span<float> to);

}  // namespace headscope::attention

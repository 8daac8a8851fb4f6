#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Scores that depend only on the distance d = i − j, as sums of cosines: s(d) = Σ_f a_f·cos(ω_f·d). If a
/// token's position is stored as (sin ω_f·p, cos ω_f·p), the product of a query and a key can have this form.
/// Both functions return the amplitudes a_f, [frequencies], in units of scores.

/// Returns the amplitudes whose softmax over the distances −(N−1) … N−1 is closest to `target` [N] in
/// Kullback–Leibler divergence; target[d] is the wanted weight at distance ±d, up to a factor.
/// This is the maximum-entropy distribution with the target's cosine moments (Jaynes 1957): a convex
/// problem, solved by Newton's method.
std::vector<double> fitDistanceProfile(std::span<const double> frequencies, std::span<const double> target);

/// Returns the amplitudes of a peak at d = 0 that is as flat as possible elsewhere: s(0) is 1 above the mean
/// over the distances 1 … reach−1, and the variance over these is minimal.
std::vector<double> flattestPeak(std::span<const double> frequencies, Index reach);

}  // namespace headscope::attention

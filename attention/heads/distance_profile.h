#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Scores that depend on the distance d = i − j alone, made of cosines: s(d) = Σ_f a_f·cos(ω_f·d). With a
/// token's position held as (sin ω_f·p, cos ω_f·p), this is what a query's product with a key can be.
/// Both functions return the amplitudes a_f, [frequencies], in units of scores.

/// The amplitudes whose softmax over the distances −(N−1) … N−1 comes closest to `target` in
/// Kullback–Leibler divergence, target[d] being the wanted weight at distance ±d, [N], up to a factor.
/// This is the maximum-entropy distribution with the target's cosine moments (Jaynes 1957): a convex
/// problem, solved by Newton's method.
std::vector<double> fitDistanceProfile(std::span<const double> frequencies, std::span<const double> target);

/// The amplitudes of a peak at d = 0 that is as flat as can be elsewhere: s(0) lies 1 above the mean over
/// the distances 1 … reach−1, and the variance there is least.
std::vector<double> flattestPeak(std::span<const double> frequencies, Index reach);

}  // namespace headscope::attention

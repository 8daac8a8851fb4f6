#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

// Layout helpers that find what fits in a bounded number of steps for any size: windows can be too small for
// anything to fit, and widths can be negative or NaN.

/// Returns the smallest power of two n such that n items `each` wide take at least `room`. Returns no more
/// than the first n ≥ `count`, and that n if `each` isn't positive.
attention::Index powerOfTwoStep(double each, double room, attention::Index count);
/// Like powerOfTwoStep(), choosing from 1, 2, 5, 10, 20, …
attention::Index roundStep(double each, double room, attention::Index count);

/// Returns from, from + step, … below `to`, at most kMaxPlaces of them; none if `step` isn't positive or any
/// of the three isn't finite.
inline constexpr int kMaxPlaces = 4096;
std::vector<float> placesBetween(float from, float to, float step);

}  // namespace headscope::app

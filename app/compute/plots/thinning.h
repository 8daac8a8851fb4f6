#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

// Layout that has to find what fits, in a number of steps that has a bound whatever the sizes are: windows
// can be so small that nothing fits, and a width below 0 or NaN.

/// The smallest power of two n for which n things that are `each` wide take at least `room`; where n comes to
/// all `count` of them, or `each` isn't above 0, the first n ≥ `count`.
attention::Index powerOfTwoStep(double each, double room, attention::Index count);
/// The same of 1, 2, 5, 10, 20, …
attention::Index roundStep(double each, double room, attention::Index count);

/// from, from + step, … below `to`, at most kMostPlaces of them; none where `step` isn't above 0 or one of
/// the three isn't finite.
inline constexpr int kMostPlaces = 4096;
std::vector<float> placesBetween(float from, float to, float step);

}  // namespace headscope::app

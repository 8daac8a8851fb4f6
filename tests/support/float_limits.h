#pragma once

#include <limits>

namespace headscope::attention {

inline constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// The same as doubles, for bounds of float results.
inline constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();
inline constexpr double kDoubleInfinity = std::numeric_limits<double>::infinity();

}  // namespace headscope::attention

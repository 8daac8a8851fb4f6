#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace headscope::attention {

/// Converts IEEE 754 binary16 bits to float, exactly.
inline float halfToFloat(std::uint16_t bits) {
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
}

/// Converts bfloat16 bits to float, exactly.
inline float bfloat16ToFloat(std::uint16_t bits) {
  return Eigen::numext::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Rounds to the nearest float. Returns nullopt for a finite value beyond float's range.
inline std::optional<float> narrowed(double value) {
  if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return std::nullopt;
  return static_cast<float>(value);
}

}  // namespace headscope::attention

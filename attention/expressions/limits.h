#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope::attention {

/// Brackets inside of each other.
inline constexpr std::size_t kMaxExpressionDepth = 64;

/// What one evaluation may take.
struct ExpressionLimits {
  std::uint64_t visits = std::uint64_t{1} << 31;  ///< values that are read, of all operands together
  std::uint64_t bytes = std::uint64_t{1} << 30;   ///< of results that can't be made piece by piece
};

}  // namespace headscope::attention

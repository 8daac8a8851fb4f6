#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope::attention {

/// The maximum nesting depth of brackets, signs and powers.
inline constexpr std::size_t kMaxExpressionDepth = 64;

/// The most that one evaluation may use.
struct ExpressionLimits {
  std::uint64_t visits = std::uint64_t{1} << 31;  ///< values read, summed over all operands
  std::uint64_t bytes = std::uint64_t{1} << 30;   ///< of results that can't be computed block by block
};

}  // namespace headscope::attention

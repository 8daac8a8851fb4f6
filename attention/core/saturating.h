#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the product of sizes; the largest uint64 if it overflows. Throws std::invalid_argument if a
/// size is negative before the first 0.
inline std::uint64_t saturatingProduct(std::initializer_list<Index> sizes) {
  std::uint64_t product = 1;
  bool overflow = false;
  for (const Index size : sizes) {
    if (size < 0) throw std::invalid_argument("a size is negative: " + std::to_string(size));
    // A later zero makes the whole product zero, so the loop continues after an overflow.
    if (size == 0) return 0;
    overflow |= __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product);
  }
  return overflow ? std::numeric_limits<std::uint64_t>::max() : product;
}

inline std::uint64_t saturatingSum(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t sum = 0;
  for (const std::uint64_t term : terms)
    if (__builtin_add_overflow(sum, term, &sum)) return std::numeric_limits<std::uint64_t>::max();
  return sum;
}

}  // namespace headscope::attention

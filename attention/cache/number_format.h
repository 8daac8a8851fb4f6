#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::attention {

/// How a number of a cache, or of a model's weights, is kept.
enum class NumberFormat { fp32, fp16, bf16, fp8, int8, int4 };

inline constexpr std::array<std::string_view, 6> kNumberFormatNames{"fp32", "fp16", "bf16",
                                                                    "fp8",  "int8", "int4"};

/// Bits of one number, without the scales that int8 and int4 share among the numbers of a head.
constexpr int bitsOf(NumberFormat format) {
  constexpr std::array kBits{32, 16, 16, 8, 8, 4};
  return kBits[static_cast<std::size_t>(format)];
}

}  // namespace headscope::attention

#pragma once

#include <array>
#include <span>
#include <string_view>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Number formats of a cache. To add one, add a value here and a row in kNumberFormats.
enum class NumberFormat { fp32, fp16, bf16, fp8, int8, int4, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl };

struct NumberFormatRow {
  const char* name;
  int bits;  ///< per number, without scales
  /// Rounds rows of keys or values [tokens, headDim] as a cache of this format does. Null in fp32, which
  /// rounds nothing, and after kRoundedFormats.
  void (*round)(Matrix& rows, const NumberFormatRow& format);
  const char* help;
  Index scaleBytes = 0;  ///< per group: its scale, and its minimum if it has one; 0 = neither
  Index group = 0;       ///< numbers of a row that share a scale; 0 = the whole row
};

// Rounding functions; all round to nearest, ties to even.
void roundToHalf(Matrix& rows, const NumberFormatRow& format);    ///< infinite beyond ±65,504
void roundToBfloat(Matrix& rows, const NumberFormatRow& format);  ///< the upper 16 bits of fp32
void roundToE4m3(Matrix& rows, const NumberFormatRow& format);    ///< see roundedToE4m3() in quantise.h
/// Rounds each group to symmetric integers of `bits` times a scale of max|x| / (2^(bits − 1) − 1), which is
/// stored as fp16. A group with NaN or infinity becomes all NaN.
void roundToSteps(Matrix& rows, const NumberFormatRow& format);

/// All formats: those that the Cache page computes with, then those of llama.cpp's cache (--cache-type-k and
/// --cache-type-v, ggml-common.h), each by descending number of bits. Choices, the cache's figures and
/// pictures, `cost --dtype` and the tests iterate over these rows; files use the names.
inline constexpr std::array<NumberFormatRow, 12> kNumberFormats{{
    {"fp32", 32, nullptr, "IEEE single: 24 bits of precision."},
    {"fp16", 16, roundToHalf, "IEEE half: 11 bits of precision, up to ±65,504."},
    {"bf16", 16, roundToBfloat, "The upper half of a single: 8 bits of precision, same range."},
    {"fp8", 8, roundToE4m3, "E4M3: 4 bits of precision, up to ±448."},
    {"int8", 8, roundToSteps, "Integers up to ±127 times a scale per token and head (2 more bytes).", 2},
    {"int4", 4, roundToSteps, "Integers up to ±7 times a scale per token and head (2 more bytes).", 2},
    {"q8_0", 8, nullptr, "llama.cpp: 34 B for 32 numbers.", 2, 32},
    {"q5_1", 5, nullptr, "llama.cpp: 24 B for 32 numbers.", 4, 32},
    {"q5_0", 5, nullptr, "llama.cpp: 22 B for 32 numbers.", 2, 32},
    {"q4_1", 4, nullptr, "llama.cpp: 20 B for 32 numbers.", 4, 32},
    {"q4_0", 4, nullptr, "llama.cpp: 18 B for 32 numbers.", 2, 32},
    {"iq4_nl", 4, nullptr, "llama.cpp: 18 B for 32 numbers.", 2, 32},
}};

/// The first formats, in which keys and values can be rounded; of the others only the bytes are known.
inline constexpr std::size_t kRoundedFormats = 6;

inline constexpr auto kNumberFormatNames = [] {
  std::array<std::string_view, kNumberFormats.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kNumberFormats[i].name;
  return names;
}();
inline constexpr auto kRoundedFormatNames = std::span(kNumberFormatNames).first<kRoundedFormats>();

/// Throws std::out_of_range if the value has no row.
constexpr const NumberFormatRow& rowOf(NumberFormat format) {
  return kNumberFormats.at(static_cast<std::size_t>(format));
}

}  // namespace headscope::attention

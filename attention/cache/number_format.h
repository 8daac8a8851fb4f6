#pragma once

#include <array>
#include <cstddef>
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
void roundToE4m3(Matrix& rows, const NumberFormatRow& format);    ///< see roundedToE4m3() in kv_cache.h
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

/// Storage format of a model's weights; published = as in its files.
enum class WeightFormat {
  published,
  fp32,
  fp16,
  bf16,
  fp8,
  int8,
  int4,
  awq,
  gptq,
  nf4,
  mxfp4,
  nvfp4,
  q8_0,
  q6_k,
  q5_k_m,
  q5_k,
  q5_0,
  q4_k_m,
  q4_k,
  q4_0,
  q3_k,
  q2_k
};

/// Format of the activations that are multiplied; weights = as usual for the weights' format.
enum class MathFormat { weights, fp32, fp16, bf16, fp8, int8, fp4 };
inline constexpr std::array<std::string_view, 7> kMathFormatNames{"weights", "fp32", "fp16", "bf16",
                                                                  "fp8",     "int8", "fp4"};

/// One row per format. `bits` includes scales and zeros.
struct WeightFormatRow {
  /// The weights in this format; the rest has 16 bits. `matrices`: all but norms, biases and small tables.
  enum class Covers { all, matrices, layers, experts };
  std::string_view name;
  double bits;  ///< per weight, including its share of scales and zeros
  Covers covers;
  MathFormat computes;  ///< default math format
  std::string_view source;
};

/// For GGUF files with several types: the bits that llama.cpp's quantize publishes for Llama-3.1-8B.
inline constexpr std::string_view kMixed = "GGUF, several types; bits per weight of Llama-3.1-8B";

inline constexpr std::array<WeightFormatRow, 22> kWeightFormats{{
    {"published", 16, WeightFormatRow::Covers::all, MathFormat::bf16, "as stored in the model's files"},
    {"fp32", 32, WeightFormatRow::Covers::all, MathFormat::fp32, ""},
    {"fp16", 16, WeightFormatRow::Covers::all, MathFormat::fp16, ""},
    {"bf16", 16, WeightFormatRow::Covers::all, MathFormat::bf16, ""},
    {"fp8", 8, WeightFormatRow::Covers::layers, MathFormat::fp8,
     "a scale for each matrix or 128 × 128 block"},
    {"int8", 8, WeightFormatRow::Covers::layers, MathFormat::int8, "a scale for each row"},
    {"int4", 4, WeightFormatRow::Covers::layers, MathFormat::bf16, "no scales"},
    {"awq", 4 + 20.0 / 128, WeightFormatRow::Covers::layers, MathFormat::fp16,
     "groups of 128: a scale of 16 bits, a zero of 4"},
    {"gptq", 4 + 20.0 / 128, WeightFormatRow::Covers::layers, MathFormat::fp16,
     "groups of 128: a scale of 16 bits, a zero of 4"},
    {"nf4", 4 + 8.0 / 64 + 32.0 / (64 * 256), WeightFormatRow::Covers::layers, MathFormat::bf16,
     "bitsandbytes, groups of 64 with scales of 8 bits (Dettmers et al. 2023, QLoRA, section 3)"},
    {"mxfp4", 4 + 8.0 / 32, WeightFormatRow::Covers::experts, MathFormat::bf16,
     "groups of 32 with an 8-bit scale (OCP Microscaling 1.0); in gpt-oss, only the experts"},
    {"nvfp4", 4 + 8.0 / 16, WeightFormatRow::Covers::layers, MathFormat::fp4,
     "groups of 16 with a scale of 8 bits"},
    {"q8_0", 8.5, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 34 B for 32 weights"},
    {"q6_k", 6.5625, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 210 B for 256 weights"},
    {"q5_k_m", 5.7036, WeightFormatRow::Covers::all, MathFormat::fp16, kMixed},
    {"q5_k", 5.5, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 176 B for 256 weights"},
    {"q5_0", 5.5, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 22 B for 32 weights"},
    {"q4_k_m", 4.8944, WeightFormatRow::Covers::all, MathFormat::fp16, kMixed},
    {"q4_k", 4.5, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 144 B for 256 weights"},
    {"q4_0", 4.5, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 18 B for 32 weights"},
    {"q3_k", 3.4375, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 110 B for 256 weights"},
    {"q2_k", 2.625, WeightFormatRow::Covers::all, MathFormat::fp16, "GGUF: 84 B for 256 weights"},
}};

inline constexpr auto kWeightFormatNames = [] {
  std::array<std::string_view, kWeightFormats.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kWeightFormats[i].name;
  return names;
}();

constexpr const WeightFormatRow& rowOf(WeightFormat format) {
  return kWeightFormats[static_cast<std::size_t>(format)];
}

}  // namespace headscope::attention

#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

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

/// Reads a number from unaligned bytes.
template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

/// The header that precedes an array's values.
struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortranOrder = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t dataBegin = 0, dataSize = 0;  ///< the values' bytes, which extend to the end of the file
};

/// The most bytes at the start of a file that a header may take.
inline constexpr std::uint64_t kMaxNpyHeader = std::uint64_t{1} << 20;

/// Parses the header of a file of `fileSize` bytes. `start` is the whole file or its first kMaxNpyHeader
/// bytes; with fewer, a header that doesn't fit is an Error. Messages name no file.
Result<NpyHeader> parseNpyHeader(std::span<const std::uint8_t> start, std::uint64_t fileSize);

/// Returns an Error unless the data has exactly the bytes that the shape needs, and at least one value.
Status checkNpyExtent(const NpyHeader& header, std::size_t valueSize);

/// Returns the first bytes of a version 1.0 file in C order, padded so that the data is aligned.
std::string npyPreamble(const std::string& descr, const std::vector<std::uint64_t>& shape);

}  // namespace headscope::attention

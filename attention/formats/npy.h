#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attention/formats/dtype.h"

namespace headscope::attention {

// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

/// The header that precedes an array's values.
struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortranOrder = false;
  Shape shape;
  std::uint64_t dataBegin = 0, dataSize = 0;  ///< the values' bytes, which extend to the end of the file
};

/// The most bytes at the start of a file that a header may take.
inline constexpr std::uint64_t kMaxNpyHeader = std::uint64_t{1} << 20;

/// Parses the header of a file of `fileSize` bytes. `start` is the whole file or its first kMaxNpyHeader
/// bytes; with fewer, a header that doesn't fit is an Error. Messages name no file.
Result<NpyHeader> parseNpyHeader(std::span<const std::uint8_t> start, std::uint64_t fileSize);

/// Returns the type of the values, or an Error unless it is one of `types`, which `expected` describes.
Result<DType> npyType(const NpyHeader& header, std::span<const DType> types, std::string_view expected);
/// Returns an Error unless the data has exactly the bytes that the shape needs, and at least one value.
Status checkNpyExtent(const NpyHeader& header, std::size_t valueSize);

/// Returns the first bytes of a version 1.0 file in C order, padded so that the data is aligned.
std::string npyPreamble(const std::string& descr, const Shape& shape);

}  // namespace headscope::attention

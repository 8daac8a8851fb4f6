#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

/// What stands before an array's values.
struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortranOrder = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t dataBegin = 0, dataSize = 0;  ///< where in the file the values are: to its end
};

/// So many first bytes of a file hold every header that is read.
inline constexpr std::uint64_t kMaxNpyHeader = std::uint64_t{1} << 20;

/// Reads the header off the start of a file of `fileSize` bytes: all of it or its first kMaxNpyHeader.
/// Messages name no file.
Result<NpyHeader> parseNpyHeader(std::span<const std::uint8_t> start, std::uint64_t fileSize);

/// An error unless exactly as many bytes of data are there as the shape says, and at least one value.
Status checkNpyExtent(const NpyHeader& header, std::size_t valueSize);

/// The first bytes of a file in version 1.0 and C order, aligned for the data that follows.
std::string npyPreamble(const std::string& descr, const std::vector<std::uint64_t>& shape);

}  // namespace headscope::attention

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
  std::span<const std::uint8_t> data;  ///< the rest of the file
};

/// Reads the header and leaves the data as it is. Messages name no file.
Result<NpyHeader> parseNpyHeader(std::span<const std::uint8_t> bytes);

/// An error unless exactly as many bytes of data are there as the shape says, and at least one value.
Status checkNpyExtent(const NpyHeader& header, std::size_t valueSize);

/// The first bytes of a file in version 1.0 and C order, aligned for the data that follows.
std::string npyPreamble(const std::string& descr, const std::vector<std::uint64_t>& shape);

}  // namespace headscope::attention

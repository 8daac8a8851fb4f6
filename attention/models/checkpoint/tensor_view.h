#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/projections.h"
#include "attention/core/result.h"

namespace headscope::attention {

/// A tensor within a mapped file, at any byte offset.
struct TensorView {
  std::string_view kind;           ///< number type as files name it: "F32", "Q4_K"
  std::optional<WeightType> type;  ///< nothing: numbers of this kind can't be read
  std::vector<std::uint64_t> shape;
  const std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
  const std::uint8_t* scales = nullptr;  ///< for mxfp4_apart, [numbers / 32]

  std::uint64_t numbers() const;
  /// Reads numbers first … first + values.size() − 1; both ends must be block boundaries. Returns an Error
  /// naming `name` if a double exceeds float's range. Throws std::invalid_argument if the type can't be read.
  Status read(std::uint64_t first, std::span<float> values, const std::string& name) const;
};

}  // namespace headscope::attention

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attention/core/linear_maps.h"

namespace headscope::attention {

/// How a GGUF file stores a tensor's numbers.
struct GgufType {
  std::uint32_t id = 0;           ///< in the file
  std::string_view name;          ///< "Q4_K"
  std::optional<WeightType> use;  ///< nullopt: not supported
  kernels::WeightBlock block;
};

/// Returns null if no type has this number.
const GgufType* ggufType(std::uint32_t id);

}  // namespace headscope::attention

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "attention/core/linear_maps.h"

namespace headscope::attention {

/// How a GGUF file keeps a tensor's numbers.
struct GgufType {
  std::uint32_t id = 0;           ///< in the file
  std::string_view name;          ///< "Q4_K"
  std::optional<WeightType> use;  ///< nothing: it isn't read
  kernels::WeightBlock block;
};

/// Null where no type has the number.
const GgufType* ggufType(std::uint32_t id);

}  // namespace headscope::attention

#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "attention/kernels/linear_map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// Whether any of the maps can be computed in whole numbers.
bool anyDigits(std::span<const LinearMap> maps);

/// Like applyMaps() for one row, but only for maps that can be computed in whole numbers with it (digits.h).
/// Appends the other maps to `others`.
bool applyDigits(Pool& pool, std::size_t in, const Columns<const float>& x, std::span<const LinearMap> maps,
                 std::vector<LinearMap>& others, const std::stop_token& stop);

}  // namespace headscope::attention::kernels

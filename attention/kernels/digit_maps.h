#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "attention/kernels/linear_map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// Rows of input that are multiplied as whole numbers at the most: with 16 it takes as long to unpack weights
/// to floats, with 8 half as long again, with 2 three times.
inline constexpr std::size_t kFewRows = 12;

/// Whether any of the maps can be applied in whole numbers.
bool anyDigits(std::span<const LinearMap> maps);

/// As applyMaps, for at most kFewRows rows, of those maps that can be applied in whole numbers with these
/// rows (digits.h); the rest are put behind `others`.
bool applyDigits(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
                 std::span<const LinearMap> maps, std::vector<LinearMap>& others,
                 const std::stop_token& stop);

}  // namespace headscope::attention::kernels

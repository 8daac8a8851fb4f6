#pragma once

#include <span>

#include "attention/kernels/linear_map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// Computes y = x·Wᵀ + b for x [rows, in] and every map. Weights are read in place, one block at a time.
/// Returns false, with y incomplete, once `stop` is requested. Working memory, a copy of x and a few hundred
/// KiB per thread, is kept for the next call.
bool applyMaps(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
               std::span<const LinearMap> maps, const std::stop_token& stop = {});

}  // namespace headscope::attention::kernels

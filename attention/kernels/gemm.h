#pragma once

#include <cstddef>
#include <span>
#include <stop_token>

#include "attention/kernels/linear_map.h"
#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// y = x·Wᵀ + b for x [rows, in] and every map. Weights are read where they lie, a block at a time. False,
/// with y incomplete, once `stop` is requested. What it needs beside its arguments, x once more and a few
/// hundred KiB a thread, is kept for the next call.
bool applyMaps(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
               std::span<const LinearMap> maps, const std::stop_token& stop = {});

}  // namespace headscope::attention::kernels

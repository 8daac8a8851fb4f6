#pragma once

#include <cstdint>
#include <span>

#include "attention/kernels/pool.h"

namespace headscope::app {

/// This machine's peak performance, measured on all kernel threads.
struct MachineCeilings {
  double flops = 0;      ///< floating-point operations per second in multiply-adds on registers only
  double readBytes = 0;  ///< bytes per second when reading uncached memory once
};

/// Takes about 0.1 s and 256 MiB of temporary memory. Throws std::bad_alloc.
MachineCeilings measureCeilings();

/// Reads all bytes once on the pool's threads, only adding them up as floats. The result has no meaning.
float readOnce(attention::kernels::Pool& pool, std::span<const std::uint8_t> bytes);

}  // namespace headscope::app

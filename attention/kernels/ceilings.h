#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// Measured limits of this machine. Each measurement takes about 50 ms.

/// Floating-point operations per second of register-only multiply-adds on all threads of the pool.
double fmaCeiling(Pool& pool);
/// Bytes per second when reading 256 MiB once on all threads. Throws std::bad_alloc.
double readCeiling(Pool& pool);
/// Reads all bytes once on all threads, only adding them up as floats.
float readOnce(Pool& pool, std::span<const std::uint8_t> bytes);

/// The instruction set the kernels use, by Highway's name: "AVX2", "AVX3_ZEN4", "SSE4".
const char* targetName();

/// Restricts the kernels to the named instruction set and older ones. Call before computing anything. Returns
/// false and changes nothing if the processor doesn't have it.
bool restrictTarget(std::string_view name);
/// The names of the processor's instruction sets, newest first, separated by commas.
std::string targetNames();

}  // namespace headscope::attention::kernels

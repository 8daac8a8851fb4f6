#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "attention/kernels/pool.h"

namespace headscope::attention::kernels {

/// What this machine can do at the most, measured: about 50 ms each.

/// Multiply-adds on registers alone, on all threads of the pool; floating-point operations a second.
double fmaCeiling(Pool& pool);
/// Reading 256 MiB once, on all threads; bytes a second. Throws std::bad_alloc.
double readCeiling(Pool& pool);
/// Reads all bytes once, on all threads, and does nothing else but add them up as floats.
float readOnce(Pool& pool, std::span<const std::uint8_t> bytes);

/// The instruction set the kernels chose, as Highway names it: "AVX2", "AVX3_ZEN4", "SSE4".
const char* targetName();

/// Has the kernels choose among the instruction set of that name and older ones alone, before anything was
/// computed. False, and nothing changed, where the processor has none of that name.
bool holdTarget(std::string_view name);
/// The names of those the processor has, newest first, with commas.
std::string targetNames();

}  // namespace headscope::attention::kernels

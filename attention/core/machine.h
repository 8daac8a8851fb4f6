#pragma once

#include <cstdint>

#include "attention/core/result.h"

namespace headscope::attention {

/// Limits the kernels to the instruction set of this name (Highway's: "AVX2", "SSSE3") and older ones; "" =
/// no limit. Call before anything is computed. Returns an Error listing the available sets if there is none.
Status restrictInstructionSet(const std::string& name);

/// Returns the memory of destroyed results to the system. It is kept for reuse because fresh memory costs
/// more than the arithmetic on it. Call when nothing is likely to be computed for a while.
void releaseIdleMemory();

/// Returns how many bytes of memory the machine has.
std::uint64_t machineMemory();

}  // namespace headscope::attention

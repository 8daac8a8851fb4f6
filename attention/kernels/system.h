#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope::attention::kernels {

// What the system knows of the machine, and its memory; each has a version of it in its own folder.

/// Returns memory for freeAligned(); null if there is none. `bytes` is a multiple of `alignment`.
void* alignedMemory(std::size_t alignment, std::size_t bytes);
void freeAligned(void* memory);

/// Returns how many processors this process may use; taskset and containers can reduce it.
int allowedProcessors();
std::uint64_t machineMemory();

}  // namespace headscope::attention::kernels

#include "attention/kernels/system.h"

#include <malloc.h>
#include <windows.h>

#include <bit>
#include <thread>

namespace headscope::attention::kernels {

// The C library has no aligned_alloc(), and its own kind of aligned memory must not go to free().
void* alignedMemory(std::size_t alignment, std::size_t bytes) {
  return _aligned_malloc(bytes, alignment);
}

void freeAligned(void* memory) {
  _aligned_free(memory);
}

int allowedProcessors() {
  DWORD_PTR own = 0, all = 0;
  // Both are 0 if the process uses several groups of 64 processors.
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own != 0)
    return std::popcount(static_cast<std::uint64_t>(own));
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::uint64_t machineMemory() {
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : std::uint64_t{4} << 30;
}

}  // namespace headscope::attention::kernels

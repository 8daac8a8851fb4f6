#include "attention/kernels/system.h"

#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <cstdlib>
#include <thread>

namespace headscope::attention::kernels {

void* alignedMemory(std::size_t alignment, std::size_t bytes) {
  void* const memory = std::aligned_alloc(alignment, bytes);
  // Only a hint; everything works without huge pages.
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (memory && alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void freeAligned(void* memory) {
  std::free(memory);
}

int allowedProcessors() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

std::uint64_t machineMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::uint64_t{4} << 30;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

}  // namespace headscope::attention::kernels

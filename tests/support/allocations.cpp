#include "tests/support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constinit std::atomic<std::uint64_t> allocated = 0;

}  // namespace

#ifndef HEADSCOPE_SANITIZE_BUILD
// The library's operator delete frees memory from malloc, and its other forms of operator new call this one.
void* operator new(std::size_t bytes) {
  allocated.fetch_add(bytes, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
#endif

namespace headscope::test {

std::uint64_t allocatedBytes() {
  return allocated.load(std::memory_order_relaxed);
}

}  // namespace headscope::test

#pragma once

#include <atomic>
#include <cstdint>

namespace headscope::attention {

/// A memory range in which bus errors turn into zeros.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< end 0: free
  std::atomic<bool> lost{false};                 ///< part of it reads as zeros
};

/// Guards the whole pages [begin, end) until endGuard(). Returns null if 1,024 ranges are guarded already.
GuardedRange* beginGuard(const void* begin, const void* end);
void endGuard(GuardedRange* range);

}  // namespace headscope::attention

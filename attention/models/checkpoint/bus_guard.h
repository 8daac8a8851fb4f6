#pragma once

#include <atomic>
#include <cstdint>

namespace headscope::attention {

/// A stretch of memory in which a bus error becomes zeros.
struct GuardedRange {
  std::atomic<std::uintptr_t> begin{0}, end{0};  ///< end 0: free
  std::atomic<bool> lost{false};                 ///< a part reads as zeros
};

/// Guards [begin, end), whole pages, until endGuard(). Null where 1,024 are guarded already.
GuardedRange* beginGuard(const void* begin, const void* end);
void endGuard(GuardedRange* range);

}  // namespace headscope::attention

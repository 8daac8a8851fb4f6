#pragma once

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/input_cache.h"

namespace headscope::app {

/// Shared by the computations of one window. Thread-safe.
struct Resources {
  explicit Resources(const Limits& limits) : memory(limits.memoryBytes), inputs(memory) {}

  MemoryBudget memory;
  InputCache inputs;
};

}  // namespace headscope::app

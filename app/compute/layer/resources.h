#pragma once

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/input_cache.h"

namespace headscope::app {

/// What the computations of one window share. Safe from several threads.
struct Resources {
  explicit Resources(const Limits& limits) : memory(limits.memoryBytes), inputs(memory) {}

  MemoryBudget memory;
  InputCache inputs;
};

}  // namespace headscope::app

#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "attention/cache/paging.h"

namespace headscope::app {

/// A schedule as typed, and the block size for paging.
struct PagingQuestion {
  std::string schedule;
  attention::Index block = 16;
  bool operator==(const PagingQuestion&) const = default;
};

struct PagingStudy {
  std::vector<attention::PagedRequest> requests;
  std::vector<attention::PagedStep> steps;
  attention::Index mostBlocks = 0;      ///< peak number of blocks in use
  attention::Index mostContiguous = 0;  ///< peak, in tokens
  attention::Index longest = 0;         ///< tokens of the longest request, prompt and answer
  MemoryShare memory;                   ///< of the steps
};

/// Pure. Returns an Error if the schedule can't be read or its steps exceed the memory budget.
attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, const MemoryBudget& memory,
                                           std::stop_token stop = {});

}  // namespace headscope::app

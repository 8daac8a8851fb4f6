#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "attention/cache/paging.h"

namespace headscope::app {

/// A schedule as it is typed, and the block it is paged with.
struct PagingQuestion {
  std::string schedule;
  attention::Index block = 16;
  bool operator==(const PagingQuestion&) const = default;
};

struct PagingStudy {
  std::vector<attention::PagedRequest> requests;
  std::vector<attention::PagedStep> steps;
  attention::Index mostBlocks = 0;      ///< that were ever used
  attention::Index mostContiguous = 0;  ///< tokens
  attention::Index longest = 0;         ///< tokens of the longest request, prompt and answer
  MemoryShare memory;                   ///< of the steps
};

/// Pure. Errors: a schedule that can't be read, and steps that are over the budget.
attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, const MemoryBudget& memory,
                                           std::stop_token stop = {});

}  // namespace headscope::app

#include "app/compute/cache/paging_study.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

/// Returns an upper bound on the bytes of all steps: tables and owners of every block at every step.
std::uint64_t stepBytes(const std::vector<attention::PagedRequest>& requests, attention::Index block) {
  attention::Index last = 0, blocks = 0;
  for (const attention::PagedRequest& request : requests) {
    last = std::max(last, request.arrives + request.answer + 2);
    blocks += (request.prompt + request.answer) / block + 1;
  }
  const auto each = static_cast<std::uint64_t>(2 * blocks) * sizeof(attention::Index) +
                    sizeof(attention::PagedStep) +
                    requests.size() * (sizeof(std::vector<attention::Index>) + 2 * sizeof(attention::Index));
  return static_cast<std::uint64_t>(last) * each;
}

}  // namespace

attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, const MemoryBudget& memory,
                                           std::stop_token stop) {
  auto requests = attention::parseSchedule(question.schedule);
  if (!requests) return requests.error();
  PagingStudy study;
  study.requests = *std::move(requests);
  const std::uint64_t needed = stepBytes(study.requests, question.block);
  study.memory = memory.reserve(needed, stop);
  if (!study.memory)
    return attention::Error{fmt::format(
        "The steps of {} requests need {}; the budget is {}, and {} of it is in use.", study.requests.size(),
        bytesText(static_cast<double>(needed)), bytesText(static_cast<double>(memory.total())),
        bytesText(static_cast<double>(memory.used())))};
  study.steps = attention::runSchedule(study.requests, question.block);
  for (const attention::PagedRequest& request : study.requests)
    study.longest = std::max(study.longest, request.prompt + request.answer);
  for (const attention::PagedStep& step : study.steps) {
    study.mostBlocks = std::max(study.mostBlocks, static_cast<attention::Index>(step.owners.size()));
    study.mostContiguous = std::max(study.mostContiguous, step.contiguousTokens);
  }
  return study;
}

}  // namespace headscope::app

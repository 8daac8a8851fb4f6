#include "app/compute/paging_study.h"

#include <algorithm>

namespace headscope::app {

attention::Result<PagingStudy> studyPaging(const PagingQuestion& question, std::stop_token) {
  auto requests = attention::parseSchedule(question.schedule);
  if (!requests) return requests.error();
  PagingStudy study;
  study.requests = *std::move(requests);
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

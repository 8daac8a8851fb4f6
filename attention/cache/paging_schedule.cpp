#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "attention/cache/paging.h"
#include "attention/formats/quote.h"

namespace headscope::attention {

namespace {

/// Reads numbers and words of one line from left to right.
class ScheduleLine {
 public:
  explicit ScheduleLine(std::string_view text) : text_(text) {}

  bool word(std::string_view expected) {
    skip();
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool number(Index& to) {
    skip();
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), to);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  bool ends() {
    skip();
    return text_.empty();
  }

 private:
  void skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t' || text_.front() == '\r'))
      text_.remove_prefix(1);
  }
  std::string_view text_;
};

/// Returns what is wrong with a request, or "".
std::string problemOf(const PagedRequest& request, const std::vector<PagedRequest>& earlier) {
  if (request.arrives < 0 || request.arrives > kMaxScheduleStep)
    return fmt::format("arrives at step {}, expected 0 to {}", request.arrives, kMaxScheduleStep);
  if (request.prompt < 1 || request.prompt > kMaxRequestTokens)
    return fmt::format("the prompt has {} tokens, expected 1 to {}", request.prompt, kMaxRequestTokens);
  if (request.answer < 0 || request.answer > kMaxRequestTokens)
    return fmt::format("the answer has {} tokens, expected 0 to {}", request.answer, kMaxRequestTokens);
  if (request.shared == 0 && request.with < 0) return {};
  if (request.with < 0 || request.with >= static_cast<Index>(earlier.size()))
    return fmt::format("shares with request {}, expected one of the {} before it", request.with + 1,
                       earlier.size());
  const PagedRequest& other = earlier[static_cast<std::size_t>(request.with)];
  const Index most = std::min(request.prompt, other.prompt);
  if (request.shared < 1 || request.shared > most)
    return fmt::format("shares {} tokens with request {}, expected 1 to {}, the shorter prompt",
                       request.shared, request.with + 1, most);
  if (other.arrives > request.arrives)
    return fmt::format("shares with request {}, which arrives later", request.with + 1);
  return {};
}

}  // namespace

Result<std::vector<PagedRequest>> parseSchedule(std::string_view text) {
  std::vector<PagedRequest> requests;
  for (Index number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ScheduleLine line(row);
    if (line.ends()) continue;
    PagedRequest request;
    bool fits = line.number(request.arrives) && line.word(":") && line.number(request.prompt) &&
                line.word("+") && line.number(request.answer);
    if (fits && line.word("shares")) {
      fits = line.number(request.shared) && line.word("with") && line.number(request.with);
      // Clamped before the subtraction, which would overflow for the smallest number.
      request.with = std::max<Index>(request.with, 0) - 1;
    }
    if (!fits || !line.ends())
      return Error{fmt::format("line {}: {}, expected \"STEP: PROMPT + ANSWER\" or \"… shares N with R\"",
                               number, quotedText(row))};
    if (std::string problem = problemOf(request, requests); !problem.empty())
      return Error{fmt::format("line {}: {}", number, problem)};
    requests.push_back(request);
    if (static_cast<Index>(requests.size()) > kMaxRequests)
      return Error{fmt::format("line {}: more than {} requests", number, kMaxRequests)};
  }
  if (requests.empty()) return Error{"no request, expected a line \"STEP: PROMPT + ANSWER\" for each"};
  return requests;
}

}  // namespace headscope::attention

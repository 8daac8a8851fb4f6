#include "attention/cache/paging.h"

#include <fmt/core.h>

#include <charconv>
#include <numeric>

#include "attention/formats/quote.h"

namespace headscope::attention {

PagedCache::PagedCache(Index blockTokens) : blockTokens_(blockTokens) {
  require(blockTokens >= 1, fmt::format("a block has {} tokens, expected at least 1", blockTokens));
}

const PagedCache::Sequence& PagedCache::at(Index sequence) const {
  require(sequence >= 0 && sequence < static_cast<Index>(sequences_.size()),
          fmt::format("sequence {} of {}", sequence, sequences_.size()));
  return sequences_[asSize(sequence)];
}

void PagedCache::grow(Sequence& sequence, Index tokens) {
  require(tokens >= 0, "a sequence can't get shorter");
  sequence.tokens += tokens;
  const Index needed = (sequence.tokens + blockTokens_ - 1) / blockTokens_;
  while (static_cast<Index>(sequence.blocks.size()) < needed) {
    if (free_.empty()) {
      free_.push_back(static_cast<Index>(owners_.size()));
      owners_.push_back(0);
    }
    const Index block = free_.back();
    free_.pop_back();
    owners_[asSize(block)] = 1;
    sequence.blocks.push_back(block);
  }
}

Index PagedCache::add(Index tokens, Index shared, Index of) {
  require(shared >= 0 && shared <= tokens, fmt::format("{} of {} tokens are shared", shared, tokens));
  Sequence sequence;
  if (shared > 0) {
    const Sequence& other = at(of);
    require(
        other.alive && other.tokens >= shared,
        fmt::format("sequence {} has {} tokens, expected the {} that are shared", of, other.tokens, shared));
    // If the prefix ends within a block, that block will be written to and must be a copy.
    const Index whole = shared / blockTokens_;
    sequence.blocks.assign(other.blocks.begin(), other.blocks.begin() + whole);
    sequence.tokens = whole * blockTokens_;
    for (const Index block : sequence.blocks) ++owners_[asSize(block)];
  }
  grow(sequence, tokens - sequence.tokens);
  sequences_.push_back(std::move(sequence));
  return static_cast<Index>(sequences_.size()) - 1;
}

void PagedCache::append(Index sequence, Index tokens) {
  require(at(sequence).alive, fmt::format("sequence {} is finished", sequence));
  grow(sequences_[asSize(sequence)], tokens);
}

void PagedCache::finish(Index sequence) {
  require(at(sequence).alive, fmt::format("sequence {} is finished", sequence));
  Sequence& finished = sequences_[asSize(sequence)];
  for (const Index block : finished.blocks)
    if (--owners_[asSize(block)] == 0) free_.push_back(block);
  finished.blocks.clear();
  finished.alive = false;
}

Index PagedCache::usedBlocks() const {
  return static_cast<Index>(owners_.size() - free_.size());
}

Index PagedCache::storedTokens() const {
  std::vector<Index> fill(owners_.size(), 0);
  for (const Sequence& sequence : sequences_)
    for (std::size_t i = 0; i < sequence.blocks.size(); ++i) {
      const Index before = static_cast<Index>(i) * blockTokens_;
      Index& filled = fill[asSize(sequence.blocks[i])];
      filled = std::max(filled, std::min(blockTokens_, sequence.tokens - before));
    }
  Index tokens = 0;
  for (const Index filled : fill) tokens += filled;
  return tokens;
}

std::vector<PagedStep> runSchedule(const std::vector<PagedRequest>& requests, Index blockTokens) {
  PagedCache cache(blockTokens);
  struct Running {
    Index sequence = -1, left = 0;
  };
  std::vector<Running> all(requests.size());
  Index longest = 0, last = 0;
  for (const PagedRequest& request : requests) {
    longest = std::max(longest, request.prompt + request.answer);
    last = std::max(last, request.arrives + request.answer + 1);
  }
  std::vector<PagedStep> steps;
  for (Index now = 0; now <= last && !requests.empty(); ++now) {
    for (Running& one : all) {
      if (one.sequence < 0 || !cache.alive(one.sequence)) continue;
      one.left-- > 0 ? cache.append(one.sequence, 1) : cache.finish(one.sequence);
    }
    for (std::size_t r = 0; r < requests.size(); ++r) {
      const PagedRequest& request = requests[r];
      if (request.arrives != now) continue;
      const Index of = request.with < 0 ? -1 : all[asSize(request.with)].sequence;
      const bool there = of >= 0 && cache.alive(of);
      all[r] = {cache.add(request.prompt, there ? request.shared : 0, of), request.answer};
    }
    PagedStep step;
    for (std::size_t r = 0; r < requests.size(); ++r) {
      const Index sequence = all[r].sequence;
      if (sequence < 0 || !cache.alive(sequence)) continue;
      step.running.push_back(static_cast<Index>(r));
      step.tokens.push_back(cache.tokens(sequence));
      step.tables.push_back(cache.table(sequence));
    }
    for (Index block = 0; block < cache.blocks(); ++block) step.owners.push_back(cache.owners(block));
    step.usedBlocks = cache.usedBlocks();
    step.storedTokens = cache.storedTokens();
    step.contiguousTokens = static_cast<Index>(step.running.size()) * longest;
    steps.push_back(std::move(step));
  }
  return steps;
}

double contiguousWaste(const PagedStep& step) {
  if (step.contiguousTokens == 0) return 0;
  const Index filled = std::accumulate(step.tokens.begin(), step.tokens.end(), Index{0});
  return 1 - static_cast<double>(filled) / static_cast<double>(step.contiguousTokens);
}

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
    text_.remove_prefix(asSize(end - text_.data()));
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
  const PagedRequest& other = earlier[asSize(request.with)];
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

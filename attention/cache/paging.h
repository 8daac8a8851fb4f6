#pragma once

#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// A cache of many sequences in blocks of equal size, after Kwon et al. 2023 (PagedAttention): each sequence
/// has a table of blocks, which need not lie side by side; whole blocks of a common prefix are counted, not
/// copied. Holds no numbers, only who has which block.
class PagedCache {
 public:
  /// Throws std::invalid_argument for a block of less than 1 token.
  explicit PagedCache(Index blockTokens);

  /// A sequence of that many tokens; its number. The first `shared` of them are those of `of`, an earlier
  /// sequence that has as many: whole blocks of them are shared.
  Index add(Index tokens, Index shared = 0, Index of = -1);
  void append(Index sequence, Index tokens);
  /// Gives up its blocks; those that nobody else has are free.
  void finish(Index sequence);

  Index blockTokens() const { return blockTokens_; }
  Index tokens(Index sequence) const { return at(sequence).tokens; }
  bool alive(Index sequence) const { return at(sequence).alive; }
  /// The sequence's blocks in order of its tokens.
  const std::vector<Index>& table(Index sequence) const { return at(sequence).blocks; }
  /// How many sequences have that block; 0: it is free.
  Index owners(Index block) const { return owners_[static_cast<std::size_t>(block)]; }
  /// All blocks that were ever used, free ones included.
  Index blocks() const { return static_cast<Index>(owners_.size()); }
  Index usedBlocks() const;
  /// Tokens that lie in used blocks, those of a shared one once.
  Index storedTokens() const;

 private:
  struct Sequence {
    Index tokens = 0;
    bool alive = true;
    std::vector<Index> blocks;
  };
  const Sequence& at(Index sequence) const;
  void grow(Sequence& sequence, Index tokens);

  Index blockTokens_;
  std::vector<Sequence> sequences_;
  std::vector<Index> owners_;
  std::vector<Index> free_;  ///< the last is taken next
};

/// One request of a schedule.
struct PagedRequest {
  Index arrives = 0;             ///< step
  Index prompt = 0, answer = 0;  ///< tokens
  Index shared = 0, with = -1;   ///< of the prompt, with the prompt of an earlier request
  bool operator==(const PagedRequest&) const = default;
};

inline constexpr Index kMaxRequests = 16, kMaxRequestTokens = 1024, kMaxScheduleStep = 256;

/// A line for each request: "STEP: PROMPT + ANSWER", and where the first tokens are those of an earlier one
/// "shares N with R", R counted from 1. Errors name the line, what was found and what was expected.
Result<std::vector<PagedRequest>> parseSchedule(std::string_view text);

/// What lies in memory after a step of a schedule.
struct PagedStep {
  std::vector<Index> running;              ///< requests, by number
  std::vector<Index> tokens;               ///< of each of them
  std::vector<std::vector<Index>> tables;  ///< blocks of each of them
  std::vector<Index> owners;               ///< of each block: how many have it
  Index usedBlocks = 0, storedTokens = 0;  ///< shared ones once
  Index contiguousTokens = 0;              ///< had each of them the longest request's room from the start
};
/// Share of those rooms that no token fills; a shared prefix lies in each of them. 0 where nobody is there.
double contiguousWaste(const PagedStep& step);

/// Step by step until all are done: requests arrive with their prompt, then get a token a step, and leave in
/// the step after their last. A prefix whose owner is gone is stored anew.
std::vector<PagedStep> runSchedule(const std::vector<PagedRequest>& requests, Index blockTokens);

}  // namespace headscope::attention

#pragma once

#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// A cache of many sequences in blocks of equal size, after Kwon et al. 2023 (PagedAttention): each sequence
/// has a table of blocks, which need not be contiguous; whole blocks of a common prefix are
/// reference-counted, not copied. Stores no numbers, only which sequence owns which block.
class PagedCache {
 public:
  /// Throws std::invalid_argument if blockTokens < 1.
  explicit PagedCache(Index blockTokens);

  /// Adds a sequence of `tokens` tokens and returns its number. Its first `shared` tokens are those of
  /// sequence `of`, whose whole blocks it shares. Throws std::invalid_argument if `of` is finished or
  /// shorter.
  Index add(Index tokens, Index shared = 0, Index of = -1);
  void append(Index sequence, Index tokens);
  /// Releases the sequence's blocks; those without other owners become free.
  void finish(Index sequence);

  Index blockTokens() const { return blockTokens_; }
  Index tokens(Index sequence) const { return at(sequence).tokens; }
  bool alive(Index sequence) const { return at(sequence).alive; }
  /// The sequence's blocks, in token order.
  const std::vector<Index>& table(Index sequence) const { return at(sequence).blocks; }
  /// The number of sequences that own the block; 0 = free.
  Index owners(Index block) const { return owners_[static_cast<std::size_t>(block)]; }
  /// The number of blocks ever used, including free ones.
  Index blocks() const { return static_cast<Index>(owners_.size()); }
  Index usedBlocks() const;
  /// Returns the tokens in used blocks; those in shared blocks count once.
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
  std::vector<Index> free_;  ///< the last one is used next
};

/// One request of a schedule.
struct PagedRequest {
  Index arrives = 0;             ///< step
  Index prompt = 0, answer = 0;  ///< tokens
  Index shared = 0, with = -1;   ///< first tokens of the prompt shared with an earlier request; −1 = none
  bool operator==(const PagedRequest&) const = default;
};

inline constexpr Index kMaxRequests = 16, kMaxRequestTokens = 1024, kMaxScheduleStep = 256;

/// Parses one line per request: "STEP: PROMPT + ANSWER", followed by "shares N with R" if the first N tokens
/// are those of an earlier request R, counted from 1. Errors name the line, what was found and expected.
Result<std::vector<PagedRequest>> parseSchedule(std::string_view text);

/// The memory after one step of a schedule.
struct PagedStep {
  std::vector<Index> running;              ///< requests, by number
  std::vector<Index> tokens;               ///< of each running request
  std::vector<std::vector<Index>> tables;  ///< blocks of each running request
  std::vector<Index> owners;               ///< number of owners of each block
  Index usedBlocks = 0, storedTokens = 0;  ///< shared ones count once
  Index contiguousTokens = 0;              ///< if each running request reserved the longest one's length
};
/// Returns the unused share of such contiguous reservations, each with its copy of a shared prefix. 0 if no
/// request is running.
double contiguousWaste(const PagedStep& step);

/// Runs a schedule until all requests are done: a request arrives with its prompt, gets one token per step,
/// and leaves in the step after its last token. A shared prefix whose owner has left is stored again.
std::vector<PagedStep> runSchedule(const std::vector<PagedRequest>& requests, Index blockTokens);

}  // namespace headscope::attention

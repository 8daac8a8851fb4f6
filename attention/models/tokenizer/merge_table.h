#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

/// What two neighbouring tokens become, and how early.
struct Merge {
  std::uint32_t rank;  ///< lower ones come first
  TokenId result;
};

/// The merges of byte-pair encoding, by the two tokens they join.
class MergeTable {
 public:
  struct Entry {
    TokenId left, right;
    Merge merge;
  };
  /// A later entry takes the place of an earlier one of the same two.
  explicit MergeTable(std::span<const Entry> entries = {});

  /// Null where the two stay apart.
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    std::uint64_t pair = kFree;
    Merge merge{};
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  std::size_t hashOf(std::uint64_t pair) const;
  std::size_t slotOf(std::uint64_t pair) const;

  std::uint64_t seed_;
  std::vector<Slot> slots_;
};

/// Reads ["a b", …] or [["a", "b"], …], the earlier the lower in rank. Both parts and what they join to must
/// be in the vocabulary, and neither may be empty, so that every merge makes a longer token. `where` stands
/// in front of messages, which name the merge by its number.
Result<MergeTable> readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                              const std::stop_token& stop);

}  // namespace headscope::attention

#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

/// What two neighbouring tokens merge into, and how early.
struct Merge {
  std::uint32_t rank;  ///< lower ranks merge first
  TokenId result;
};

/// The merges of byte-pair encoding, keyed by the two tokens they join.
class MergeTable {
 public:
  struct Entry {
    TokenId left, right;
    Merge merge;
  };
  /// A later entry replaces an earlier one for the same pair.
  explicit MergeTable(std::span<const Entry> entries = {});

  /// Returns null if the two don't merge.
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

/// Reads ["a b", …] or [["a", "b"], …]; earlier merges have lower ranks. Both parts and their concatenation
/// must be in the vocabulary, and neither part may be empty. The concatenation leaves out the first `prefix`
/// bytes of the second part, which mark it as inside a word. Error messages begin with `where` and give the
/// merge's number.
Result<MergeTable> readMerges(std::string_view json, const std::string& where, const Vocabulary& vocabulary,
                              std::size_t prefix, const std::stop_token& stop);

}  // namespace headscope::attention

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/encoded_text.h"

namespace headscope::attention {

/// Hashes a token's text. The seed differs between program runs, so that no file can provoke collisions.
std::uint64_t tokenHash(std::string_view text, std::uint64_t seed);
std::uint64_t randomHashSeed();

/// A one-to-one mapping of texts and ids. Texts are UTF-8, as the file spells them.
class Vocabulary {
 public:
  Vocabulary();

  /// Returns an Error if the id is negative, kMaxTokens or more, or taken, or if all texts together get too
  /// long. Texts can be found after index().
  Status add(std::string_view text, std::int64_t id);
  /// Reserves space for about `texts` texts with `bytes` bytes in total.
  void reserve(std::size_t texts, std::size_t bytes);
  /// Builds the table for find(). Returns an Error if two ids have the same text.
  Status index();

  /// A text to look up. ask() prefetches the memory that find() needs: to look up thousands of texts, ask for
  /// several before finding the first.
  struct Question {
    std::string_view text;
    std::uint64_t hash;
  };
  Question ask(std::string_view text) const;
  std::optional<TokenId> find(const Question& question) const;
  std::optional<TokenId> find(std::string_view text) const { return find(ask(text)); }
  /// Returns null data if no token has this id.
  std::string_view text(TokenId id) const;
  bool has(TokenId id) const { return text(id).data() != nullptr; }
  /// The number of tokens, and one more than the largest id.
  std::size_t count() const { return count_; }
  TokenId limit() const { return static_cast<TokenId>(texts_.size()); }
  std::size_t longest() const { return longest_; }  ///< in bytes

 private:
  struct Place {
    std::uint32_t begin = kNowhere, length = 0;
  };
  /// A slot of an open-addressing table. It holds part of the hash and the text's place, so that most other
  /// texts are skipped without reading them.
  struct Slot {
    std::uint32_t hash = 0;
    TokenId id = -1;  ///< negative: free
    Place place;
  };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::string_view at(Place place) const { return {bytes_.data() + place.begin, place.length}; }
  /// The slot of that text, or the free one where it belongs.
  std::size_t slotOf(std::string_view text, std::uint64_t hash) const;

  std::uint64_t seed_;
  std::string bytes_;
  std::vector<Place> texts_;  // by id
  std::vector<Slot> slots_;
  std::size_t count_ = 0, longest_ = 0;
};

/// Reads {"text": id, …}. An Error names the text and begins with `where`.
Status readVocabulary(std::string_view json, const std::string& where, Vocabulary& vocabulary,
                      const std::stop_token& stop);

}  // namespace headscope::attention

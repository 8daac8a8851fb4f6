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

/// A hash that differs from one program run to the next, so that no file can be made to collide.
std::uint64_t tokenHash(std::string_view text, std::uint64_t seed);
std::uint64_t randomHashSeed();

/// Which text has which id, both ways: a text has one id and an id one text. Texts are UTF-8, as the file
/// spells them.
class Vocabulary {
 public:
  Vocabulary();

  /// An error where the id is negative or beyond kMostTokens, or taken. Texts are found once index() is done.
  Status add(std::string_view text, std::int64_t id);
  /// Makes room for about so many texts with so many bytes in all.
  void reserve(std::size_t texts, std::size_t bytes);
  /// An error where two ids have the same text.
  Status index();

  /// A text that is looked for. Between asking and finding, memory has time to bring what is needed: whoever
  /// looks for thousands asks for some before finding the first.
  struct Question {
    std::string_view text;
    std::uint64_t hash;
  };
  Question ask(std::string_view text) const;
  std::optional<TokenId> find(const Question& question) const;
  std::optional<TokenId> find(std::string_view text) const { return find(ask(text)); }
  /// Null data where no token has this id.
  std::string_view text(TokenId id) const;
  bool has(TokenId id) const { return text(id).data() != nullptr; }
  /// How many tokens there are, and one more than the largest id.
  std::size_t count() const { return count_; }
  TokenId limit() const { return static_cast<TokenId>(texts_.size()); }
  std::size_t longest() const { return longest_; }  ///< bytes

 private:
  struct Place {
    std::uint32_t begin = kNowhere, length = 0;
  };
  /// Of open addressing. Most of the hash and the place are in it, so that a text that isn't the one is
  /// passed over without a look at it.
  struct Slot {
    std::uint32_t hash = 0;
    TokenId id = -1;  ///< free where negative
    Place place;
  };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::string_view at(Place place) const { return {bytes_.data() + place.begin, place.length}; }
  /// The slot of that text, or the free one where it would stand.
  std::size_t slotOf(std::string_view text, std::uint64_t hash) const;

  std::uint64_t seed_;
  std::string bytes_;
  std::vector<Place> texts_;  // by id
  std::vector<Slot> slots_;
  std::size_t count_ = 0, longest_ = 0;
};

/// Reads {"text": id, …}; an error names the text. `where` stands in front of messages.
Status readVocabulary(std::string_view json, const std::string& where, Vocabulary& vocabulary,
                      const std::stop_token& stop);

}  // namespace headscope::attention

#pragma once

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "attention/models/tokenizer/normalizers.h"
#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

/// A token that is cut out of the text before anything else happens to it, such as "<|endoftext|>".
struct AddedToken {
  TokenId id = 0;
  std::string content;
  std::string wanted;        ///< what is searched for and decoded: the content, or its normalized form
  bool singleWord = false;   ///< only without a word character next to it
  bool stripsLeft = false;   ///< includes the white space before it ("lstrip")
  bool stripsRight = false;  ///< includes the white space after it ("rstrip")
  bool normalized = false;   ///< searched for in normalized text, and normalized itself
  bool special = false;      ///< left out of decoded text
};

/// Finds the leftmost of several strings in a text; of those that begin there, the longest.
class StringFinder {
 public:
  StringFinder() = default;
  /// Strings must not be empty; of equal ones the first is found.
  explicit StringFinder(std::vector<std::string> strings);

  struct Found {
    std::size_t which;  ///< index in the list
    ByteRange range;
  };
  /// Returns the first match that begins in [from, until). Adds the number of comparisons to `steps`.
  std::optional<Found> find(std::string_view text, std::size_t from, std::size_t until,
                            std::size_t& steps) const;

 private:
  struct Entry {
    std::string text;
    std::size_t which;
  };
  std::optional<Found> longestAt(std::string_view text, std::size_t at, std::size_t& steps) const;

  std::vector<Entry> sorted_;
  std::array<std::pair<std::size_t, std::size_t>, 256> byFirst_{};  // ranges in sorted_
};

class AddedTokens {
 public:
  /// Reads "added_tokens". Returns an Error, prefixed by `where`, if an id belongs to another token, or if a
  /// token has another id in the vocabulary, occurs twice, or has more than 1,024 bytes.
  static Result<AddedTokens> read(const JsonValue& list, const std::string& where,
                                  const Vocabulary& vocabulary, const Normalizers& normalizers,
                                  const std::stop_token& stop);

  /// A part of a text: an added token with the white space it takes, or the text between two of them.
  struct Part {
    ByteRange range;
    const AddedToken* token = nullptr;
  };
  enum class Stage { typed, normalized };
  /// The comparisons that the searches in a text of so many bytes may take.
  static std::size_t allowance(std::size_t bytes) { return (std::size_t{1} << 20) + 16 * bytes; }
  /// Cuts out the tokens that are searched for at this stage. The parts tile the text. Takes the comparisons
  /// from `allowance`; returns an Error if it is too small, as it may be for hundreds of tokens that begin
  /// alike.
  Result<std::vector<Part>> cut(std::string_view text, Stage stage, std::size_t& allowance,
                                const std::stop_token& stop) const;

  /// Returns null if no added token has this id or content.
  const AddedToken* find(TokenId id) const;
  const AddedToken* find(std::string_view content) const;

 private:
  struct Stages {
    StringFinder finder;
    std::vector<std::size_t> tokens;  // by the finder's indices
  };
  const Stages& at(Stage stage) const { return stage == Stage::typed ? typed_ : normalized_; }

  std::vector<AddedToken> tokens_;
  std::unordered_map<TokenId, std::size_t> byId_;
  std::unordered_map<std::string, std::size_t> byContent_;
  Stages typed_, normalized_;
};

}  // namespace headscope::attention

#pragma once

#include <memory>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"

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

/// A token and the bytes of the text it was made from.
struct PlacedToken {
  TokenId id;
  ByteRange range;
};

/// Turns pieces of text into tokens. Not thread-safe, because it keeps tables between pieces.
class PieceEncoder {
 public:
  virtual ~PieceEncoder() = default;
  /// Appends the tokens of a piece that isn't empty; `offset` is added to their ranges.
  virtual Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                        const std::stop_token& stop) = 0;
  /// The number of table lookups so far.
  std::size_t steps() const { return steps_; }

 protected:
  /// Counts a lookup of a text of so many bytes. Returns false once the lookups take more than in proportion
  /// to the pieces, which only tokens of thousands of bytes make possible.
  bool look(std::size_t bytes) {
    ++steps_;
    bytesLooked_ += bytes;
    return bytesLooked_ <= kFreeBytes + kBytesPerByte * bytesEncoded_;
  }
  /// Counts a piece to encode.
  void enter(std::string_view piece) { bytesEncoded_ += piece.size(); }
  static Error tooManySteps() { return {"the tokenizer's longest tokens take too many steps on this text"}; }
  std::size_t steps_ = 0;

 private:
  static constexpr std::size_t kFreeBytes = std::size_t{1} << 28, kBytesPerByte = 1024;
  std::size_t bytesLooked_ = 0, bytesEncoded_ = 0;
};

/// The "model" of a tokenizer: its vocabulary and how pieces become tokens. Thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual std::unique_ptr<PieceEncoder> encoder() const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};

struct BytePairOptions {
  std::string unknown;        ///< token for characters without one; empty: they are dropped
  bool fuseUnknown = false;   ///< neighbouring unknown characters become one token
  bool byteFallback = false;  ///< try "<0xE2>" and the like before `unknown`
  bool ignoreMerges = false;  ///< a piece in the vocabulary is one token
  std::string prefix;         ///< in tokens that don't begin a piece, before their text
  std::string suffix;         ///< in tokens that end a piece, after their text
};

/// Byte-pair encoding (Sennrich et al. 2016): joins the characters of a piece pair by pair, lowest rank first
/// and of equal ranks the leftmost. A piece of n characters takes O(n log n). Returns an Error if `unknown`
/// isn't in the vocabulary.
Result<std::unique_ptr<const TokenModel>> bytePairModel(Vocabulary vocabulary, MergeTable merges,
                                                        const BytePairOptions& options);

struct WordPieceOptions {
  std::string unknown = "[UNK]";  ///< token for a word that can't be put together
  std::string prefix = "##";      ///< before every part but the first
  std::size_t longestWord = 100;  ///< in characters; longer words are unknown
};

/// WordPiece (Wu et al. 2016): takes the longest prefix of a word that is in the vocabulary, then the longest
/// prefix of the rest, and so on. Returns an Error if `unknown` isn't in the vocabulary or longestWord isn't
/// 1 to 1,000.
Result<std::unique_ptr<const TokenModel>> wordPieceModel(Vocabulary vocabulary,
                                                         const WordPieceOptions& options);

/// A piece is a token, or `unknown`. Returns an Error if `unknown` isn't in the vocabulary.
Result<std::unique_ptr<const TokenModel>> wordLevelModel(Vocabulary vocabulary, const std::string& unknown);

struct UnigramOptions {
  std::optional<TokenId> unknown;  ///< for characters without a token; nothing: they are dropped
  bool byteFallback = false;       ///< try "<0xE2>" and the like before `unknown`
};

/// A unigram language model (Kudo 2018): of all ways to compose a piece of tokens, takes the one with the
/// largest sum of scores, which are log probabilities by id. A character without a token scores 10 less than
/// the lowest score, and neighbouring ones are joined. Returns an Error if there are no scores or `unknown`
/// isn't a token.
Result<std::unique_ptr<const TokenModel>> unigramModel(Vocabulary vocabulary, std::vector<double> scores,
                                                       const UnigramOptions& options);

/// Reads the "model" of a tokenizer.json. Returns an Error, prefixed by `where`, for other types (by name),
/// for numbers, tokens and merges that don't fit, and for unsupported members that change the result.
Result<std::unique_ptr<const TokenModel>> readTokenModel(std::string_view json, const std::string& where,
                                                         const std::stop_token& stop);

}  // namespace headscope::attention

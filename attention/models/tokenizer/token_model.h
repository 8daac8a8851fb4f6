#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"

namespace headscope::attention {

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

/// A seed for hashes that differs between program runs, so that no file can provoke collisions.
std::uint64_t randomHashSeed();

/// Texts that are searched for where another begins. They are views, which must outlive the table.
class SortedTexts {
 public:
  struct Entry {
    std::string_view text;  ///< not empty
    std::int32_t which;     ///< not negative
  };
  explicit SortedTexts(std::vector<Entry> entries = {});

  /// Whether any text begins with this byte.
  bool anyBegins(char byte) const { return first(byte) < last(byte); }
  /// Calls take(which, length) with every text that `rest` begins with, shortest first, and take(-1, length)
  /// for each further byte that was compared, until it returns false. Returns whether it never did. Of equal
  /// texts, only the first is found.
  template <class Take>
  bool eachAtFront(std::string_view rest, const Take& take) const {
    auto from = first(rest[0]), to = last(rest[0]);
    // The texts in [from, to) begin with the first `length` bytes of `rest`.
    for (std::size_t length = 1; from < to;) {
      if (from->text.size() == length) {
        if (!take(from->which, length)) return false;
        ++from;
        continue;
      }
      if (to - from == 1)
        return rest.starts_with(from->text) ? take(from->which, from->text.size()) : take(-1, length);
      if (!take(-1, length)) return false;
      if (length == rest.size()) break;
      const auto byte = static_cast<unsigned char>(rest[length]);
      const auto at = [length](const Entry& e) { return static_cast<unsigned char>(e.text[length]); };
      from = std::partition_point(from, to, [&](const Entry& e) { return at(e) < byte; });
      to = std::partition_point(from, to, [&](const Entry& e) { return at(e) <= byte; });
      ++length;
    }
    return true;
  }

 private:
  const Entry* first(char byte) const { return sorted_.data() + begins_[static_cast<unsigned char>(byte)]; }
  const Entry* last(char byte) const {
    return sorted_.data() + begins_[static_cast<std::size_t>(static_cast<unsigned char>(byte)) + 1];
  }

  std::vector<Entry> sorted_;
  std::array<std::size_t, 257> begins_{};  // index of the first text by its first byte
};

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

/// Makes a MergeTable of the texts that are joined, in order; earlier merges have lower ranks. Both parts and
/// their concatenation must be in the vocabulary, and neither part may be empty. The concatenation leaves out
/// the first `prefix` bytes of the second part, which mark it as inside a word. Error messages begin with
/// `where` and give the merge's number.
class MergeReader {
 public:
  MergeReader(std::string where, const Vocabulary& vocabulary, std::size_t prefix);
  Status add(std::string_view left, std::string_view right);
  /// Adds the two parts of "a b".
  Status add(std::string_view both);
  Result<MergeTable> finish();

  /// An error of the merge that follows those added.
  Error failure(const std::string& what) const { return failure(count_, nullptr, what); }

 private:
  /// Number of merges in flight, while the memory that they need is being prefetched.
  static constexpr std::size_t kAhead = 16;
  struct Line {
    std::string left, right;
    Vocabulary::Question leftQuestion, rightQuestion;
  };
  Status resolve(std::size_t number);
  bool findResult(const Line& line);
  Error failure(std::size_t number, const Line* line, const std::string& what) const;

  std::string where_;
  const Vocabulary& vocabulary_;
  std::size_t prefix_, count_ = 0;
  std::array<Line, kAhead> lines_;
  std::vector<MergeTable::Entry> entries_;
  std::string joined_;
  TokenId result_ = 0;
};

/// A token and the bytes of the text it was made from.
struct PlacedToken {
  TokenId id;
  ByteRange range;
};

/// The tokens "<0x00>" to "<0xFF>", which spell what has no token of its own.
class ByteTokens {
 public:
  explicit ByteTokens(const Vocabulary& vocabulary);
  /// Calls add(id, place) for each byte of `text`. Returns false, calling nothing, unless all have a token.
  template <class Add>
  bool spell(std::string_view text, const Add& add) const {
    const auto id = [this](char byte) { return ids_[static_cast<unsigned char>(byte)]; };
    for (const char byte : text)
      if (id(byte) < 0) return false;
    for (std::size_t i = 0; i < text.size(); ++i) add(id(text[i]), i);
    return true;
  }

 private:
  std::array<TokenId, 256> ids_;  // negative: none
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
  virtual const Vocabulary& vocabulary() const = 0;
};
using AnyTokenModel = std::unique_ptr<const TokenModel>;

/// A model whose tables are a `Tables`, made of `arguments`; each `Encoder` refers to them.
template <class Encoder, class Tables, class... Arguments>
AnyTokenModel tokenModel(Arguments&&... arguments) {
  struct Model final : TokenModel {
    explicit Model(Arguments&&... given) : tables{std::forward<Arguments>(given)...} {}
    std::unique_ptr<PieceEncoder> encoder() const override { return std::make_unique<Encoder>(tables); }
    const Vocabulary& vocabulary() const override { return tables.vocabulary; }
    Tables tables;
  };
  return std::make_unique<const Model>(std::forward<Arguments>(arguments)...);
}

struct BytePairOptions {
  std::string unknown = {};   ///< token for characters without one; empty: they are dropped
  bool fuseUnknown = false;   ///< neighbouring unknown characters become one token
  bool byteFallback = false;  ///< try "<0xE2>" and the like before `unknown`
  bool ignoreMerges = false;  ///< a piece in the vocabulary is one token
  std::string prefix = {};    ///< in tokens that don't begin a piece, before their text
  std::string suffix = {};    ///< in tokens that end a piece, after their text
};

/// Byte-pair encoding (Sennrich et al. 2016): joins the characters of a piece pair by pair, lowest rank first
/// and of equal ranks the leftmost. A piece of n characters takes O(n log n). Returns an Error if `unknown`
/// isn't in the vocabulary.
Result<AnyTokenModel> bytePairModel(Vocabulary vocabulary, MergeTable merges, const BytePairOptions& options);

struct WordPieceOptions {
  std::string unknown = "[UNK]";   ///< token for a word that can't be put together
  std::string prefix = "##";       ///< before every part but the first
  std::int64_t longestWord = 100;  ///< in characters; longer words are unknown
};

/// WordPiece (Wu et al. 2016): takes the longest prefix of a word that is in the vocabulary, then the longest
/// prefix of the rest, and so on. Returns an Error if `unknown` isn't in the vocabulary or longestWord isn't
/// 1 to 1,000.
Result<AnyTokenModel> wordPieceModel(Vocabulary vocabulary, const WordPieceOptions& options);

/// A piece is a token, or `unknown`. Returns an Error if `unknown` isn't in the vocabulary.
Result<AnyTokenModel> wordLevelModel(Vocabulary vocabulary, const std::string& unknown);

struct UnigramOptions {
  std::optional<TokenId> unknown;  ///< for characters without a token; nothing: they are dropped
  bool byteFallback = false;       ///< try "<0xE2>" and the like before `unknown`
};

/// A unigram language model (Kudo 2018): of all ways to compose a piece of tokens, takes the one with the
/// largest sum of scores, which are log probabilities by id. A character without a token scores 10 less than
/// the lowest score, and neighbouring ones are joined. Returns an Error if there are no scores or `unknown`
/// isn't a token.
Result<AnyTokenModel> unigramModel(Vocabulary vocabulary, std::vector<double> scores,
                                   const UnigramOptions& options);

/// Reads the "model" of a tokenizer.json. Returns an Error, prefixed by `where`, for other types (by name),
/// for numbers, tokens and merges that don't fit, and for unsupported members that change the result.
Result<AnyTokenModel> readTokenModel(std::string_view json, const std::string& where,
                                     const std::stop_token& stop);

}  // namespace headscope::attention

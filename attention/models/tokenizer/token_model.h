#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/json_value.h"
#include "attention/models/tokenizer/merge_table.h"
#include "attention/models/tokenizer/vocabulary.h"

namespace headscope::attention {

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

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

/// Turns pieces of text into tokens; one thread's, as it keeps its tables between pieces.
class PieceEncoder {
 public:
  virtual ~PieceEncoder() = default;
  /// Adds the tokens of a piece that is not empty; `offset` is added to their ranges.
  virtual Status encode(std::string_view piece, std::size_t offset, std::vector<PlacedToken>& tokens,
                        const std::stop_token& stop) = 0;
  /// How often the tables have been asked so far, which is what the time is in proportion to.
  std::size_t steps() const { return steps_; }

 protected:
  std::size_t steps_ = 0;
};

/// The "model" of a tokenizer: its vocabulary and how pieces become tokens of it. Any number of threads may
/// use one.
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
  std::string unknown;        ///< the token for characters without one; they are left out where it is empty
  bool fuseUnknown = false;   ///< one token for neighbouring unknown characters
  bool byteFallback = false;  ///< "<0xE2>" and the like before `unknown`
  bool ignoreMerges = false;  ///< a piece that is in the vocabulary is one token
};

/// Byte-pair encoding (Sennrich et al. 2016): the characters of a piece, joined two by two, the merge of
/// lowest rank first and of those the leftmost. A piece of n characters takes O(n log n). An error where
/// `unknown` is not in the vocabulary.
Result<std::unique_ptr<const TokenModel>> bytePairModel(Vocabulary vocabulary, MergeTable merges,
                                                        const BytePairOptions& options);

struct WordPieceOptions {
  std::string unknown = "[UNK]";  ///< the token for a word that can't be put together
  std::string prefix = "##";      ///< in front of every part but the first
  std::size_t longestWord = 100;  ///< in characters; a longer one is unknown
};

/// WordPiece (Wu et al. 2016): a word's longest beginning that is in the vocabulary, then the longest
/// beginning of the rest, and so on. An error where `unknown` is not in the vocabulary or the longest word is
/// not 1 to 1,000.
Result<std::unique_ptr<const TokenModel>> wordPieceModel(Vocabulary vocabulary,
                                                         const WordPieceOptions& options);

struct UnigramOptions {
  std::optional<TokenId> unknown;  ///< for characters without a token; they are left out where there is none
  bool byteFallback = false;       ///< "<0xE2>" and the like before `unknown`
};

/// A unigram language model (Kudo 2018): of all ways to put a piece together of tokens, the one whose scores,
/// logarithms of probabilities, have the largest sum; `scores` are of each id. A character without a token
/// scores 10 less than the least of them, and neighbouring ones become one. An error where `unknown` is no
/// token.
Result<std::unique_ptr<const TokenModel>> unigramModel(Vocabulary vocabulary, std::vector<double> scores,
                                                       const UnigramOptions& options);

/// The "model" of a tokenizer.json. `where` stands in front of messages. Errors: other types, by name;
/// numbers, tokens and merges that don't fit; members that change the result in ways that are not supported.
Result<std::unique_ptr<const TokenModel>> readTokenModel(std::string_view json, const std::string& where,
                                                         const std::stop_token& stop);

}  // namespace headscope::attention

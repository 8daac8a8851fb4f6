#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {

/// A rule that rewrites text before it is split: a normal form, lower case, "▁" for a space.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const = 0;
};

/// Rules in the order they are applied.
using Normalizers = std::vector<std::unique_ptr<const Normalizer>>;

/// The most rules that one part of a tokenizer may have.
inline constexpr std::size_t kMaxRules = 64;

/// Adds the rules of a "normalizer" to `rules`. Returns an Error naming any unsupported kind or missing
/// field, prefixed by `where`.
Status readNormalizers(const JsonValue& value, const std::string& where, Normalizers& rules);

/// Applies all rules to `text`.
Result<AlignedText> normalize(const Normalizers& rules, AlignedText text, const std::stop_token& stop);

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

/// A step in turning tokens, as the vocabulary spells them, into text.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Rewrites the tokens of a text, possibly into fewer. Returns an Error if together they would have more
  /// than `most` bytes.
  virtual Status decode(std::vector<std::string>& tokens, std::size_t most) const = 0;
  /// Rewrites one token into the bytes it stands for regardless of its position, possibly part of a
  /// character. Changes nothing if there would be more than `most` bytes.
  virtual void toBytes(std::string&, std::size_t) const {}
};

/// Rules in the order they are applied.
using Decoders = std::vector<std::unique_ptr<const Decoder>>;

/// Adds the rules of a "decoder" to `rules`. Returns an Error naming any unsupported kind or missing field,
/// prefixed by `where`.
Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules);

/// The tokens that are put around every text, such as "<s>" and "[SEP]".
struct SurroundingTokens {
  std::vector<TokenId> before, after;
};

/// Adds what a "post_processor" puts around a single text, outside what is already there. Returns an Error,
/// prefixed by `where`, for unsupported kinds (by name), a template without the text, or one with tokens that
/// it doesn't define.
Status readPostProcessor(const JsonValue& value, const std::string& where, SurroundingTokens& around);

/// A text and those parts of it that the model turns into tokens one by one, from left to right.
struct Pieces {
  AlignedText text;
  std::vector<ByteRange> ranges;
};

/// A rule that splits or rewrites pieces.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual Status apply(Pieces& pieces, const std::stop_token& stop) const = 0;
};

/// Rules in the order they are applied.
using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

/// Adds the rules of a "pre_tokenizer" to `rules`. Returns an Error naming any unsupported kind or missing
/// field, prefixed by `where`.
Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules);

/// Applies all rules to `text`. Without rules, the whole text is one piece.
Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop);

/// The parts of a tokenizer.json, in the order in which a text passes through them.
struct TokenizerParts {
  AddedTokens added;
  Normalizers normalizers;
  PreTokenizers preTokenizers;
  std::unique_ptr<const TokenModel> model;
  SurroundingTokens around;
  Decoders decoders;
};

/// Reads the bytes of a tokenizer.json. Returns an Error that names the member; "stopped" once `stop` is
/// requested.
Result<std::unique_ptr<const TokenizerParts>> readTokenizerParts(std::string_view json,
                                                                 const std::stop_token& stop);

}  // namespace headscope::attention

#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <unordered_map>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/json_value.h"
#include "attention/models/tokenizer/token_model.h"

namespace headscope::attention {

/// A rule that rewrites text before it is split: a normal form, lower case, "▁" for a space.
using Normalizer = std::function<Result<AlignedText>(const AlignedText& text, const std::stop_token& stop)>;

/// Rules in the order they are applied.
using Normalizers = std::vector<Normalizer>;

/// The most rules that one part of a tokenizer may have.
inline constexpr std::size_t kMaxRules = 64;

/// Adds the rules that a component describes to `rules`, by its row in `kinds`. Returns an Error naming any
/// unsupported kind or missing field, prefixed by `where`, or if there are then more than kMaxRules.
template <class Kinds, class Rules>
Status readRules(const Kinds& kinds, const JsonValue& value, const std::string& where, Rules& rules) {
  if (const Status status = readByType(kinds, value, where, rules); !status) return status;
  if (rules.size() <= kMaxRules) return success();
  return Error{where + ": more than " + std::to_string(kMaxRules) + " rules"};
}

/// Adds the rules of a "normalizer" to `rules` (readRules()).
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

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(AddedTokens&&) = default;
  AddedTokens& operator=(AddedTokens&&) = default;
  /// Reads "added_tokens". Returns an Error, prefixed by `where`, of make() or for missing fields.
  static Result<AddedTokens> read(const std::vector<JsonValue>& list, const std::string& where,
                                  const Vocabulary& vocabulary, const Normalizers& normalizers,
                                  const std::stop_token& stop);
  /// Takes tokens whose `wanted` isn't set yet. Returns an Error, prefixed by `where`, if an id belongs to
  /// another token, or if a token has another id in the vocabulary, occurs twice, or has more than 1,024
  /// bytes.
  static Result<AddedTokens> make(std::vector<AddedToken> tokens, const std::string& where,
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
  std::vector<AddedToken> tokens_;
  std::unordered_map<TokenId, std::size_t> byId_;
  std::unordered_map<std::string, std::size_t> byContent_;
  SortedTexts typed_, normalized_;  // of tokens_
};

/// A step in turning tokens, as the vocabulary spells them, into text.
struct Decoder {
  /// Rewrites the tokens of a text, possibly into fewer. Returns an Error if together they would have more
  /// than `most` bytes.
  std::function<Status(std::vector<std::string>& tokens, std::size_t most)> decode;
  /// Rewrites one token into the bytes it stands for regardless of its position, possibly part of a
  /// character. Changes nothing if there would be more than `most` bytes.
  std::function<void(std::string& token, std::size_t most)> toBytes = [](std::string&, std::size_t) {};
};

/// Rules in the order they are applied.
using Decoders = std::vector<Decoder>;

/// Adds the rules of a "decoder" to `rules` (readRules()).
Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules);

/// The tokens that are put around every text, such as "<s>" and "[SEP]", and around two texts.
struct SurroundingTokens {
  std::vector<TokenId> before, after;
  std::vector<TokenId> between = {}, afterBoth = {};  ///< of a pair, which has the same `before`
  bool secondType = false;                            ///< the second text's tokens are of type 1
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
using PreTokenizer = std::function<Status(Pieces& pieces, const std::stop_token& stop)>;

/// Rules in the order they are applied.
using PreTokenizers = std::vector<PreTokenizer>;

/// Adds the rules of a "pre_tokenizer" to `rules` (readRules()).
Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules);

/// Applies all rules to `text`. Without rules, the whole text is one piece.
Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop);

/// Rewrites the files that came before tokenizer.json as one: vocab.txt, vocab.json with merges.txt beside
/// it, or SentencePiece's .model, given as the file or its folder, with what tokenizer_config.json says.
/// Returns an empty text if there is none of them. Returns an Error if one can't be read, or is for a class
/// of transformers whose rules aren't known.
Result<std::string> olderTokenizer(const std::filesystem::path& path);

/// The parts of a tokenizer.json, in the order in which a text passes through them.
struct TokenizerParts {
  AddedTokens added;
  Normalizers normalizers;
  PreTokenizers preTokenizers;
  std::unique_ptr<const TokenModel> model;
  SurroundingTokens around;
  Decoders decoders;
};

}  // namespace headscope::attention

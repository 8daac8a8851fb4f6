#pragma once

#include <filesystem>
#include <memory>

#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {

struct TokenizerParts;

/// Whether encoding adds the tokenizer's own tokens around a text ("<s>", "[CLS]"), and whether decoding
/// writes special tokens.
enum class SpecialTokens { leaveOut, keep };

/// Two texts as one list of tokens.
struct TokenPair {
  std::vector<TokenId> ids;
  std::size_t second = 0;  ///< where tokens of type 1 begin: the second text, or the end
};

/// Runs Hugging Face's tokenizer.json exactly: BPE, WordPiece and Unigram with the normalizers,
/// pre-tokenizers, added tokens, post-processors and decoders that published text models use. Immutable and
/// thread-safe. Truncation and padding requested by a file are left to the caller, who knows the model's
/// positions. The reference has tables of Unicode 8 for NFC and BERT's rules, this has version 14: newer
/// characters may be classified differently.
class TextTokenizer {
 public:
  /// Opens a file, the tokenizer.json in a folder, an older file (olderTokenizer()), or a GGUF file's
  /// metadata. Returns an Error, naming the file, what was found and what would work, for damaged JSON,
  /// unsupported kinds of rules and contradictory vocabularies; "stopped" once `stop` is requested. A
  /// vocabulary of 33 MB takes about 0.2 s.
  static Result<TextTokenizer> open(const std::filesystem::path& path, const std::stop_token& stop = {});
  /// Parses the bytes of a tokenizer.json; error messages begin with `name`.
  static Result<TextTokenizer> parse(std::string_view json, const std::string& name,
                                     const std::stop_token& stop = {});
  TextTokenizer(TextTokenizer&&) noexcept;
  TextTokenizer& operator=(TextTokenizer&&) noexcept;
  ~TextTokenizer();

  /// Encodes a text of n bytes in O(n log n). Returns an Error if it isn't UTF-8 (naming the byte), has more
  /// than 16 MiB, or an expression of the tokenizer takes too many steps; "stopped" once `stop` is requested.
  Result<EncodedText> encode(std::string_view text, SpecialTokens around = SpecialTokens::keep,
                             const std::stop_token& stop = {}) const;

  /// Encodes two texts with the tokens that the tokenizer puts around and between them. Returns the Errors of
  /// encode().
  Result<TokenPair> encodePair(std::string_view first, std::string_view other,
                               const std::stop_token& stop = {}) const;

  /// Returns the text that `ids` stand for together, which is more than each of them alone. Skips ids without
  /// a token; bytes that form no character become U+FFFD. Returns an Error if an expression takes too many
  /// steps.
  Result<std::string> decode(std::span<const TokenId> ids,
                             SpecialTokens special = SpecialTokens::leaveOut) const;

  /// Returns each token's spelling as in the reference: from the vocabulary or, for added tokens, as found in
  /// the text.
  std::vector<std::string> spellings(const EncodedText& text) const;
  /// Returns the vocabulary's spelling ("Ġthe", "▁the", "##ing", "<0xE2>"); nothing if the id has no token.
  std::optional<std::string> spelling(TokenId id) const;
  std::optional<TokenId> find(std::string_view spelling) const;
  bool isSpecial(TokenId id) const;

  /// Returns a token in readable form, regardless of its position: a space is "␣", an invisible character its
  /// number ("<0A>"), a byte of a split character "<E2>", and a part within a word keeps its "##". Nothing if
  /// the id has no token.
  std::optional<std::string> readable(TokenId id) const;
  /// The same for consecutive tokens; those that share a character are combined into it.
  std::vector<ReadableRun> readable(std::span<const TokenId> ids) const;

 private:
  /// The bytes that a token stands for regardless of its position, possibly part of a character.
  std::string bytesOf(TokenId id) const;
  explicit TextTokenizer(std::unique_ptr<const TokenizerParts> parts);
  std::unique_ptr<const TokenizerParts> parts_;
};

}  // namespace headscope::attention

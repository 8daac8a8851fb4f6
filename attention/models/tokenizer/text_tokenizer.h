#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/encoded_text.h"

namespace headscope::attention {

struct TokenizerParts;

/// Whether a tokenizer's own tokens around a text ("<s>", "[CLS]") belong to it, and whether special tokens
/// are written out when ids become text.
enum class SpecialTokens { leaveOut, keep };

/// Hugging Face's tokenizer.json, run exactly: BPE and WordPiece with the normalizers, pre-tokenizers, added
/// tokens, post-processors and decoders that published text models use. Immutable: any number of threads may
/// use one. Truncation and padding that a file asks for are left to the caller, who knows the model's
/// positions. The reference has tables of Unicode 8 for NFC and BERT's rules, these are of version 14:
/// younger characters may be classed differently.
class TextTokenizer {
 public:
  /// From a file, from tokenizer.json in a folder, or from a GGUF file's metadata. Errors name the file, what
  /// was found and what would work: damaged JSON, kinds of rules that are not supported, vocabularies that
  /// contradict themselves. "stopped" once `stop` is requested. A vocabulary of 33 MB takes about 0.2 s.
  static Result<TextTokenizer> open(const std::filesystem::path& path, const std::stop_token& stop = {});
  /// From the bytes of such a file; `name` stands in front of messages.
  static Result<TextTokenizer> parse(std::string_view json, const std::string& name,
                                     const std::stop_token& stop = {});
  TextTokenizer(TextTokenizer&&) noexcept;
  TextTokenizer& operator=(TextTokenizer&&) noexcept;
  ~TextTokenizer();

  /// Time O(n log n) in the bytes of `text`. Errors: no UTF-8 (naming the byte), more than 16 MiB, an
  /// expression of the tokenizer that takes too many steps; "stopped" once `stop` is requested.
  Result<EncodedText> encode(std::string_view text, SpecialTokens around = SpecialTokens::keep,
                             const std::stop_token& stop = {}) const;

  /// The text that `ids` stand for together, which is more than each of them alone. Ids without a token are
  /// passed over; bytes that are no character become U+FFFD. An error where an expression takes too many
  /// steps.
  Result<std::string> decode(std::span<const TokenId> ids,
                             SpecialTokens special = SpecialTokens::leaveOut) const;

  /// One more than the largest id. The embedding of a model may have more rows: such ids have no token.
  TokenId vocabularySize() const;
  /// Each token of a text as the reference spells it: as the vocabulary does, and added tokens as they were
  /// found.
  std::vector<std::string> spellings(const EncodedText& text) const;
  /// As the vocabulary has it ("Ġthe", "▁the", "##ing", "<0xE2>"); none where the id has no token.
  std::optional<std::string> spelling(TokenId id) const;
  std::optional<TokenId> find(std::string_view spelling) const;
  bool isSpecial(TokenId id) const;

  /// A token as people read it, wherever it stands: a space is "␣", what can't be seen is its number
  /// ("<0A>"), a byte of a split character "<E2>", and a part inside a word keeps its "##". None where the id
  /// has no token.
  std::optional<std::string> readable(TokenId id) const;
  /// The same for tokens that follow each other; those that share a character come together as that
  /// character.
  std::vector<ReadableRun> readable(std::span<const TokenId> ids) const;

 private:
  /// What a token stands for wherever it stands, which may be a part of a character.
  std::string bytesOf(TokenId id) const;
  explicit TextTokenizer(std::unique_ptr<const TokenizerParts> parts);
  std::unique_ptr<const TokenizerParts> parts_;
};

}  // namespace headscope::attention

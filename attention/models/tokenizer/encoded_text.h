#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::attention {

/// A token's row in the model's embedding.
using TokenId = std::int32_t;

/// Ids must be below this: no model has as many tokens, and tables are as long as the largest id.
inline constexpr TokenId kMaxTokens = 1 << 22;

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// The origin of a token.
enum class TokenSource : std::uint8_t {
  text,    ///< made by the model from a piece of text
  added,   ///< an added token found in the text as it is, such as a typed "<s>"
  around,  ///< added by the tokenizer; not typed
};

/// A text as a model reads it. `ids`, `spans` and `sources` have one entry per token.
struct EncodedText {
  std::vector<TokenId> ids;
  /// The typed bytes that each token stands for, without gaps and overlaps from the first byte to the last.
  /// Tokens that weren't typed have empty spans, unless all characters of the text were dropped: then the
  /// first of these tokens has all the bytes. A token may stand for part of a character. If the text was
  /// rewritten (composed, in lower case, without accents), the tokens of a character share its bytes from the
  /// left, and dropped text belongs to the token before it.
  std::vector<ByteRange> spans;
  std::vector<TokenSource> sources;
  /// For added tokens, by index: the text that was found, with the white space they took.
  std::vector<std::pair<std::size_t, std::string>> addedSpellings;
};

/// Consecutive tokens that together hold whole characters: nearly always one token, several if a character is
/// split between them.
struct ReadableRun {
  std::size_t begin = 0, end = 0;  ///< tokens [begin, end)
  std::string text;
  bool complete = true;  ///< false if the list ends within a character
  bool operator==(const ReadableRun&) const = default;
};

}  // namespace headscope::attention

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headscope::attention {

/// A token's row in the model's embedding.
using TokenId = std::int32_t;

/// Ids from here on are refused: no model has as many tokens, and tables are as long as the largest id.
inline constexpr TokenId kMostTokens = 1 << 22;

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// Where a token comes from.
enum class TokenSource : std::uint8_t {
  text,    ///< made by the model from a piece of text
  added,   ///< an added token that stands in the text as it is, such as a typed "<s>"
  around,  ///< put there by the tokenizer; nobody typed it
};

/// A text as a model reads it. The three lists have one entry for each token.
struct EncodedText {
  std::vector<TokenId> ids;
  /// The typed bytes a token stands for. They follow each other without gaps and overlaps from the first byte
  /// to the last. Those of tokens that nobody typed are empty, unless the text has no token of its own
  /// because all of its characters were dropped: then the first of them has its bytes. A token may stand for
  /// a part of a character. Where the text was rewritten (composed, lower case, without accents), the tokens
  /// of a character share its bytes from the left, and what was dropped goes with the token before it.
  std::vector<ByteRange> spans;
  std::vector<TokenSource> sources;
  /// Of added tokens, by their places: what was found in the text, with the white space they took.
  std::vector<std::pair<std::size_t, std::string>> addedSpellings;
};

/// Neighbouring tokens that hold whole characters together, as people read them: nearly always one, and two
/// or more where a character is split.
struct ReadableRun {
  std::size_t begin = 0, end = 0;  ///< tokens [begin, end)
  std::string text;
  bool complete = true;  ///< false at the end of a list that breaks off within a character
  bool operator==(const ReadableRun&) const = default;
};

}  // namespace headscope::attention

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

enum class Tokenization { words, characters, bytes };

/// One token. `text` is what is shown and what is hashed; bytes above 0x7F appear as "<E2>".
struct Token {
  std::string text;
  /// Punctuation or line structure: what separator heads look at. A number's point is neither.
  bool separator = false;
  bool operator==(const Token&) const = default;
};

/// Whether `text` is well-formed UTF-8 (no overlong forms, surrogates or values above U+10FFFF);
/// the error names the first bad byte and its offset.
Status validateUtf8(std::string_view text);

/// Every line of `text` is a sequence of the batch (LF, CR LF or CR end a line); lines without a token are
/// passed over, and so is a byte-order mark at the start.
/// words: runs of letters, digits, underscores, inner apostrophes or hyphens and points between digits
/// ("didn't" and "3.14" are one token each), every other visible character a token of its own, as is every
/// Han, kana or bopomofo character. characters: what a reader takes for one (a base with its marks; a space
/// is a token, shown as "␣"). bytes: every byte of the line. Control characters, and in characters mode what
/// draws nothing, appear as escapes ("<00>",
/// "<200B>"). An error for invalid UTF-8. An empty batch for a text without tokens. Linear in the text's
/// length.
Result<std::vector<std::vector<Token>>> tokenize(std::string_view text, Tokenization how);

/// The identity of a token for embeddings: its text, without its case (of any script) when `ignoreCase`.
std::string tokenIdentity(const Token& token, bool ignoreCase);

}  // namespace headscope::attention

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

enum class Tokenization { words, characters, bytes };

/// One token. `text` is displayed and hashed; bytes above 0x7F appear as "<E2>".
struct Token {
  std::string text;
  /// Whether separator heads attend to it: punctuation or line structure, but not a decimal point in a
  /// number.
  bool separator = false;
  bool operator==(const Token&) const = default;
};

/// Checks that `text` is well-formed UTF-8 (no overlong forms, surrogates or values above U+10FFFF). The
/// error names the first bad byte and its offset.
Status validateUtf8(std::string_view text);

/// Splits `text` into a batch with one sequence per line (LF, CR LF or CR end a line). Lines without tokens
/// and a leading byte-order mark are skipped.
/// words: runs of letters, digits, underscores, inner apostrophes or hyphens, and points between digits
/// ("didn't" and "3.14" are one token each). Every other visible character is a separate token, as is every
/// Han, kana or bopomofo character.
/// characters: user-perceived characters (a base with its marks); a space is a token, shown as "␣".
/// bytes: every byte of the line.
/// Control characters, and in characters mode invisible ones, appear as escapes ("<00>", "<200B>").
/// Returns an Error for invalid UTF-8 and an empty batch for text without tokens. Takes linear time.
Result<std::vector<std::vector<Token>>> tokenize(std::string_view text, Tokenization how);

/// Returns the identity of a token for embeddings: its text, case-folded (in any script) if `ignoreCase`.
std::string tokenIdentity(const Token& token, bool ignoreCase);

}  // namespace headscope::attention

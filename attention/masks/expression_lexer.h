#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "attention/masks/expression.h"

namespace headscope::attention {

enum class MaskTokenKind { end, word, number, string, symbol };

/// A token of a mask's text.
struct MaskToken {
  MaskTokenKind kind = MaskTokenKind::end;
  std::size_t offset = 0;
  std::string_view text;  ///< as written
  std::string string;     ///< for strings: the quoted text with escapes resolved

  bool isSymbol(char c) const { return kind == MaskTokenKind::symbol && text[0] == c; }
  bool isWord(std::string_view word) const { return kind == MaskTokenKind::word && text == word; }
};

/// Splits a mask's text into words, numbers, strings and the symbols ( ) [ ] , = : & | ! and -.
class MaskLexer {
 public:
  explicit MaskLexer(std::string_view text) : text_(text) { read(); }

  const MaskToken& peek() const { return next_; }
  MaskToken take() {
    MaskToken token = std::move(next_);
    read();
    return token;
  }
  /// Returns the first non-blank character after the token peek(); 0 at the end.
  char after() const;
  /// Text that is not allowed in a mask; peek() then returns an end token.
  const std::optional<MaskTextError>& error() const { return error_; }

 private:
  void read();
  void readString();
  void fail(std::string message, std::size_t offset);

  std::string_view text_;
  std::size_t at_ = 0;
  MaskToken next_;
  std::optional<MaskTextError> error_;
};

/// Returns `text` in quotes for a message, with long text cut and control characters removed.
std::string quotedWord(std::string_view text);

}  // namespace headscope::attention

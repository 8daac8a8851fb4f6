#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "attention/masks/expression.h"

namespace headscope::attention {

enum class MaskTokenKind { end, word, number, string, symbol };

/// A piece of a mask's text.
struct MaskToken {
  MaskTokenKind kind = MaskTokenKind::end;
  std::size_t offset = 0;
  std::string_view text;  ///< as it stands there
  std::string string;     ///< of a string: what the quotes hold, without escapes

  bool isSymbol(char c) const { return kind == MaskTokenKind::symbol && text[0] == c; }
  bool isWord(std::string_view word) const { return kind == MaskTokenKind::word && text == word; }
};

/// Cuts a mask's text into words, digits, strings and the symbols ( ) [ ] , = : & | ! and -.
class MaskLexer {
 public:
  explicit MaskLexer(std::string_view text) : text_(text) { read(); }

  const MaskToken& peek() const { return next_; }
  MaskToken take() {
    MaskToken token = std::move(next_);
    read();
    return token;
  }
  /// The first character of what follows peek(), spaces passed over; 0 at the end.
  char after() const;
  /// What can't stand in a mask at all; peek() is an end there.
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

/// `text` in quotes for a message, long text cut and control characters left out.
std::string quotedWord(std::string_view text);

}  // namespace headscope::attention

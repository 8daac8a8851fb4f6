#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::attention {

/// What is wrong with an expression, and the byte offset of the error.
struct ExpressionFault {
  std::string message;
  std::size_t offset = 0;
};

enum class ExpressionTokenKind { end, number, name, text, symbol };

struct ExpressionToken {
  ExpressionTokenKind kind = ExpressionTokenKind::end;
  std::size_t begin = 0, end = 0;
  std::string word;  ///< as written; for quoted text, without the quotes
  double number = 0;
};

/// Splits an expression into numbers, (dotted) names, quoted text, and symbols of one or two characters.
/// Throws ExpressionFault at anything else.
class ExpressionLexer {
 public:
  explicit ExpressionLexer(std::string_view text) : text_(text) { read(); }

  const ExpressionToken& peek() const { return next_; }
  ExpressionToken take() {
    ExpressionToken token = std::move(next_);
    read();
    return token;
  }
  bool sees(std::string_view symbol) const {
    return next_.kind == ExpressionTokenKind::symbol && next_.word == symbol;
  }

 private:
  void read();
  void readNumber();
  void readName();
  void readText();

  std::string_view text_;
  std::size_t at_ = 0;
  ExpressionToken next_;
};

}  // namespace headscope::attention

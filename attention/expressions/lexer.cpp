#include "attention/expressions/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "attention/formats/quote.h"
#include "attention/text/ascii.h"
#include "attention/text/unicode.h"

namespace headscope::attention {

namespace {

bool startsName(char c) {
  return isLetter(c) || c == '_';
}

}  // namespace

void ExpressionLexer::read() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  next_ = {};
  next_.begin = next_.end = at_;
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  const bool point = c == '.' && at_ + 1 < text_.size() && isDigit(text_[at_ + 1]);
  if (isDigit(c) || point) return readNumber();
  if (startsName(c)) return readName();
  if (c == '"' || c == '\'') return readText();
  static constexpr std::array<std::string_view, 19> kSymbols{
      "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":"};
  const auto found = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view symbol) {
    return text_.substr(at_).starts_with(symbol);
  });
  if (found != kSymbols.end()) {
    next_.kind = ExpressionTokenKind::symbol;
    next_.word = *found;
    at_ += found->size();
    next_.end = at_;
    return;
  }
  if (c == '=') throw ExpressionFault{"= is not an operator; compare values with ==", at_};
  if (c == '!') throw ExpressionFault{"! is not an operator; compare with == 0", at_};
  if (c == '&' || c == '|')
    throw ExpressionFault{std::string(1, c) + " is not an operator; join conditions with && or ||", at_};
  const std::size_t length = std::max<std::size_t>(decodeUtf8(text_, at_).length, 1);
  throw ExpressionFault{quotedText(text_.substr(at_, length)) + " is not allowed in an expression", at_};
}

void ExpressionLexer::readNumber() {
  const char* const begin = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  const auto [stop, code] = std::from_chars(begin, end, next_.number);
  const std::size_t length = static_cast<std::size_t>(stop - begin);
  std::size_t all = length;
  while (at_ + all < text_.size() &&
         (startsName(text_[at_ + all]) || isDigit(text_[at_ + all]) || text_[at_ + all] == '.'))
    ++all;
  next_.word = text_.substr(at_, all);
  if (code == std::errc::result_out_of_range) {
    // Numbers too small for a double become 0.
    const bool small =
        next_.word.find("e-") != std::string::npos || next_.word.find("E-") != std::string::npos;
    if (!small) throw ExpressionFault{quotedText(next_.word) + " is too large for a number", at_};
    next_.number = 0;
  }
  if (all != length || code == std::errc::invalid_argument)
    throw ExpressionFault{quotedText(next_.word) + " is not a number", at_};
  next_.kind = ExpressionTokenKind::number;
  at_ += length;
  next_.end = at_;
}

void ExpressionLexer::readName() {
  const std::size_t begin = at_;
  while (true) {
    while (at_ < text_.size() && (startsName(text_[at_]) || isDigit(text_[at_]))) ++at_;
    const bool more = at_ + 1 < text_.size() && text_[at_] == '.' && startsName(text_[at_ + 1]);
    if (!more) break;
    ++at_;
  }
  if (at_ < text_.size() && text_[at_] == '.')
    throw ExpressionFault{"expected a name after the point", at_ + 1};
  next_.kind = ExpressionTokenKind::name;
  next_.word = text_.substr(begin, at_ - begin);
  next_.end = at_;
}

void ExpressionLexer::readText() {
  const std::size_t begin = at_;
  const std::size_t end = text_.find(text_[at_], at_ + 1);
  if (end == std::string_view::npos) throw ExpressionFault{"a closing quote is missing", begin};
  next_.kind = ExpressionTokenKind::text;
  next_.word = text_.substr(begin + 1, end - begin - 1);
  at_ = end + 1;
  next_.end = at_;
}

}  // namespace headscope::attention

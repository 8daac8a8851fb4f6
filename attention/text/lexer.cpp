#include "attention/text/lexer.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "attention/text/ascii.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

bool startsWord(char c) {
  return isLetter(c) || c == '_';
}
bool continuesWord(char c) {
  return startsWord(c) || isDigit(c);
}

/// Returns the first place from `at` on where `holds` isn't true of the character.
template <typename Holds>
std::size_t skip(std::string_view text, std::size_t at, Holds holds) {
  return static_cast<std::size_t>(
      std::find_if_not(text.begin() + std::min(at, text.size()), text.end(), holds) - text.begin());
}

std::size_t skipBlanks(std::string_view text, std::size_t at) {
  return skip(text, at, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
}

char charAt(std::string_view text, std::size_t at) {
  return at < text.size() ? text[at] : '\0';
}

std::string hexByte(char c) {
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

}  // namespace

std::string quotedWord(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < kLongest) {
    const DecodedCodePoint point = decodeUtf8(text, at);
    if (!point.fault && !isControl(point.value)) out += text.substr(at, point.length);
    at += point.length;
  }
  return out + (at < text.size() ? "…\"" : "\"");
}

Lexeme Lexer::take() {
  Lexeme taken = std::move(next_);
  read();
  return taken;
}

bool Lexer::takeSymbol(std::string_view symbol) {
  if (!sees(symbol)) return false;
  read();
  return true;
}

char Lexer::after() const {
  return charAt(text_, skipBlanks(text_, at_));
}

void Lexer::read() {
  at_ = skipBlanks(text_, at_);
  next_ = {};
  next_.begin = next_.end = at_;
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  if (rules_.fractions && (isDigit(c) || (c == '.' && isDigit(charAt(text_, at_ + 1)))))
    readFraction();
  else if (isDigit(c))
    readWhole();
  else if (startsWord(c))
    readWord();
  else if (rules_.quotes.find(c) != std::string_view::npos)
    readText();
  else
    readSymbol();
  next_.end = at_;
}

void Lexer::readWhole() {
  std::size_t end = skip(text_, at_, continuesWord);
  // Reads 1.5 as one number for a clear error message.
  if (charAt(text_, end) == '.' && isDigit(charAt(text_, end + 1))) end = skip(text_, end + 1, continuesWord);
  next_.kind = LexemeKind::number;
  next_.word = text_.substr(at_, end - at_);
  if (!std::all_of(next_.word.begin(), next_.word.end(), [](char c) { return isDigit(c); }))
    throw SyntaxError{rules_.quoted(next_.word) + " is not a whole number", at_};
  at_ = end;
}

void Lexer::readFraction() {
  const auto [stop, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), next_.number);
  const auto end = static_cast<std::size_t>(stop - text_.data());
  const std::size_t all = skip(text_, end, [](char c) { return continuesWord(c) || c == '.'; });
  next_.kind = LexemeKind::number;
  next_.word = text_.substr(at_, all - at_);
  if (code == std::errc::result_out_of_range) {
    // Numbers too small for a double become 0.
    const bool small =
        next_.word.find("e-") != std::string::npos || next_.word.find("E-") != std::string::npos;
    if (!small) throw SyntaxError{rules_.quoted(next_.word) + " is too large for a number", at_};
    next_.number = 0;
  }
  if (all != end || code == std::errc::invalid_argument)
    throw SyntaxError{rules_.quoted(next_.word) + " is not a number", at_};
  at_ = end;
}

void Lexer::readWord() {
  const std::size_t begin = at_;
  at_ = skip(text_, at_, continuesWord);
  while (rules_.dottedWords && charAt(text_, at_) == '.') {
    if (!startsWord(charAt(text_, at_ + 1))) throw SyntaxError{"expected a name after the point", at_ + 1};
    at_ = skip(text_, at_ + 1, continuesWord);
  }
  next_.kind = LexemeKind::word;
  next_.word = text_.substr(begin, at_ - begin);
}

void Lexer::readText() {
  const std::size_t begin = at_;
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) {
    std::size_t length = 1;
    if (rules_.escapes && text_[at_] == '\\') {
      if (const char escaped = charAt(text_, ++at_); escaped != '"' && escaped != '\\')
        throw SyntaxError{"a backslash in quotes must be doubled or precede a quote", at_ - 1};
    } else if (rules_.escapes) {
      const DecodedCodePoint point = decodeUtf8(text_, at_);
      if (point.fault)
        throw SyntaxError{"the text in quotes is not UTF-8: it has the byte " + hexByte(text_[at_]), at_};
      if (isControl(point.value)) throw SyntaxError{"the text in quotes has a control character", at_};
      length = point.length;
    }
    next_.word += text_.substr(at_, length);
    at_ += length;
  }
  if (at_ == text_.size()) throw SyntaxError{"a closing quote is missing", begin};
  ++at_;
  next_.kind = LexemeKind::text;
}

void Lexer::readSymbol() {
  const auto found = std::find_if(rules_.symbols.begin(), rules_.symbols.end(), [&](std::string_view symbol) {
    return text_.substr(at_).starts_with(symbol);
  });
  if (found != rules_.symbols.end()) {
    next_.kind = LexemeKind::symbol;
    next_.word = *found;
    at_ += found->size();
    return;
  }
  const char c = text_[at_];
  if (std::string hint = rules_.hint ? rules_.hint(c) : ""; !hint.empty())
    throw SyntaxError{std::move(hint), at_};
  const DecodedCodePoint point = decodeUtf8(text_, at_);
  const bool shown = !point.fault && !isControl(point.value);
  const std::string character = shown ? std::string(text_.substr(at_, point.length)) : hexByte(c);
  throw SyntaxError{fmt::format("\"{}\" is not allowed in {}", character, rules_.language), at_};
}

}  // namespace headscope::attention

#include "attention/formats/json_cursor.h"

#include <fmt/core.h>

#include <charconv>

#include "attention/formats/quote.h"
#include "attention/text/ascii.h"
#include "attention/text/tokenizer.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

bool isSpaceByte(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool isWordByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E';
}

/// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool isNumber(std::string_view word) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < word.size() && isDigit(word[at])) ++at;
    return at > begin;
  };
  if (at < word.size() && word[at] == '-') ++at;
  const bool zero = at < word.size() && word[at] == '0';
  const std::size_t begin = at;
  if (!digits() || (zero && at > begin + 1)) return false;
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == word.size();
}

}  // namespace

bool JsonCursor::fail(std::string_view expected) {
  if (failed()) return false;
  skipSpace();
  constexpr std::size_t kShown = 20;
  const std::string_view rest = text_.substr(at_, kShown);
  // The cut may fall inside a character.
  const bool whole = validateUtf8(rest).ok();
  fault_ = fmt::format("byte {}: found {}, expected {}", at_,
                       rest.empty() ? "the end"
                       : whole      ? quotedText(rest)
                                    : fmt::format("byte {:02x}", static_cast<unsigned char>(rest[0])),
                       expected);
  return false;
}

void JsonCursor::skipSpace() {
  while (at_ < text_.size() && isSpaceByte(text_[at_])) ++at_;
}

char JsonCursor::peek() {
  skipSpace();
  return at_ < text_.size() && !failed() ? text_[at_] : '\0';
}

std::string_view JsonCursor::rest() {
  skipSpace();
  return text_.substr(at_);
}

bool JsonCursor::enter(char open) {
  if (failed()) return false;
  if (peek() != open) return fail(open == '{' ? "an object" : "a list");
  ++at_;
  levels_.push_back({open == '{' ? '}' : ']', true});
  return true;
}

bool JsonCursor::next() {
  if (failed()) return false;
  Level& level = levels_.back();
  const char c = peek();
  if (c == level.close) {
    ++at_;
    levels_.pop_back();
    return false;
  }
  if (!level.first) {
    if (c != ',') return fail(fmt::format("a comma or \"{}\"", level.close));
    ++at_;
    // After a comma there must be another member or item.
    if (peek() == level.close) return fail("another item after the comma");
  }
  level.first = false;
  return true;
}

bool JsonCursor::key(std::string_view& name, std::string& buffer) {
  if (!string(name, buffer)) return false;
  if (peek() != ':') return fail("a colon");
  ++at_;
  return true;
}

bool JsonCursor::string(std::string_view& value, std::string& buffer) {
  if (failed()) return false;
  if (peek() != '"') return fail("a string");
  std::size_t begin = ++at_;
  bool ascii = true, escaped = false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      value = escaped ? std::string_view(buffer) : text_.substr(begin, at_ - begin);
      ++at_;
      if (ascii || validateUtf8(value)) return true;
      at_ = begin;
      return fail("UTF-8");
    }
    if (c == '\\') {
      if (!escaped) buffer.assign(text_, begin, at_ - begin);
      if (!escaped) begin = at_;
      escaped = true;
      if (!unescapeOne(buffer)) return false;
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) return fail("no control character inside a string");
    ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (escaped) buffer += c;
    ++at_;
  }
  return fail("the end of a string");
}

bool JsonCursor::unescapeOne(std::string& buffer) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  const std::size_t begin = at_;
  const char c = ++at_ < text_.size() ? text_[at_] : '\0';
  if (c != 'u') {
    const std::size_t which = kNames.find(c);
    if (c == '\0' || which == std::string_view::npos) return at_ = begin, fail("a JSON escape");
    buffer += kValues[which];
    ++at_;
    return true;
  }
  std::uint32_t value = 0;
  if (!hexDigits(value)) return at_ = begin, fail("four hexadecimal digits");
  if (value >= 0xD800 && value < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
    std::uint32_t low = 0;
    ++at_;
    if (hexDigits(low) && low >= 0xDC00 && low < 0xE000)
      value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00);
  }
  if (value >= 0xD800 && value < 0xE000) return at_ = begin, fail("both halves of a surrogate pair");
  appendUtf8(static_cast<char32_t>(value), buffer);
  return true;
}

bool JsonCursor::hexDigits(std::uint32_t& value) {
  // at_ points at the 'u'.
  if (text_.size() - at_ < 5) return false;
  const char* begin = text_.data() + at_ + 1;
  const auto [end, code] = std::from_chars(begin, begin + 4, value, 16);
  at_ += 5;
  return code == std::errc{} && end == begin + 4;
}

bool JsonCursor::word(std::string_view& value) {
  if (failed()) return false;
  skipSpace();
  std::size_t end = at_;
  while (end < text_.size() && isWordByte(text_[end])) ++end;
  value = text_.substr(at_, end - at_);
  if (value != "true" && value != "false" && value != "null" && !isNumber(value)) return fail("a value");
  at_ = end;
  return true;
}

bool JsonCursor::integer(std::int64_t& value) {
  if (failed()) return false;
  const char c = peek();
  const std::size_t begin = at_;
  std::string_view digits;
  if ((c != '-' && !isDigit(c)) || !word(digits)) return fail("a whole number");
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc{} && end == digits.data() + digits.size()) return true;
  at_ = begin;
  return fail("a whole number of at most 64 bits");
}

bool JsonCursor::skipString() {
  for (++at_; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') return ++at_, true;
    if (text_[at_] == '\\') ++at_;
  }
  at_ = text_.size();
  return fail("the end of a string");
}

bool JsonCursor::skip(std::string_view& value) {
  if (failed()) return false;
  const char first = peek();
  const std::size_t begin = at_;
  if (first == '{' || first == '[') {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skipString()) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) break;
    }
    if (depth > 0) return fail("the end of the open object or list");
  } else if (first == '"') {
    if (!skipString()) return false;
  } else if (!word(value)) {
    return false;
  }
  value = text_.substr(begin, at_ - begin);
  return true;
}

bool JsonCursor::finish() {
  return peek() == '\0' && !failed() ? at_ >= text_.size() || fail("nothing more") : fail("nothing more");
}

}  // namespace headscope::attention

#include "attention/masks/expression_lexer.h"

#include "attention/text/ascii.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isWordPart(char c) {
  return isLetter(c) || c == '_' || isDigit(c);
}

std::string byteText(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
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

char MaskLexer::after() const {
  std::size_t at = at_;
  while (at < text_.size() && isBlank(text_[at])) ++at;
  return at < text_.size() ? text_[at] : '\0';
}

void MaskLexer::fail(std::string message, std::size_t offset) {
  error_ = MaskTextError{std::move(message), offset};
  next_ = {};
  next_.offset = offset;
  at_ = text_.size();
}

void MaskLexer::read() {
  if (error_) return;
  while (at_ < text_.size() && isBlank(text_[at_])) ++at_;
  next_ = {};
  next_.offset = at_;
  if (at_ == text_.size()) return;
  const std::size_t begin = at_;
  const char c = text_[at_];
  if (c == '"') return readString();
  if (isWordPart(c)) {
    while (at_ < text_.size() && isWordPart(text_[at_])) ++at_;
    // Reads 1.5 as one token for a clear error message.
    if (isDigit(c) && at_ + 1 < text_.size() && text_[at_] == '.' && isDigit(text_[at_ + 1]))
      for (++at_; at_ < text_.size() && isWordPart(text_[at_]);) ++at_;
    next_.text = text_.substr(begin, at_ - begin);
    next_.kind = isDigit(c) ? MaskTokenKind::number : MaskTokenKind::word;
    if (isDigit(c) && next_.text.find_first_not_of("0123456789") != std::string_view::npos)
      fail(quotedWord(next_.text) + " is not a whole number", begin);
    return;
  }
  if (std::string_view("()[],=:&|!-").find(c) != std::string_view::npos) {
    next_.kind = MaskTokenKind::symbol;
    next_.text = text_.substr(at_++, 1);
    return;
  }
  const DecodedCodePoint point = decodeUtf8(text_, at_);
  const bool shown = !point.fault && !isControl(point.value);
  fail("\"" + (shown ? std::string(text_.substr(at_, point.length)) : byteText(c)) +
           "\" is not allowed in a mask",
       begin);
}

void MaskLexer::readString() {
  const std::size_t begin = at_;
  std::string value;
  for (++at_; at_ < text_.size() && text_[at_] != '"';) {
    if (text_[at_] == '\\') {
      const char escaped = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (escaped != '"' && escaped != '\\')
        return fail("a backslash in quotes must be doubled or precede a quote", at_);
      value += escaped;
      at_ += 2;
      continue;
    }
    const DecodedCodePoint point = decodeUtf8(text_, at_);
    if (point.fault)
      return fail("the text in quotes is not UTF-8: it has the byte " + byteText(text_[at_]), at_);
    if (isControl(point.value)) return fail("the text in quotes has a control character", at_);
    value += text_.substr(at_, point.length);
    at_ += point.length;
  }
  if (at_ == text_.size()) return fail("a closing quote is missing", begin);
  ++at_;
  next_.kind = MaskTokenKind::string;
  next_.text = text_.substr(begin, at_ - begin);
  next_.string = std::move(value);
}

}  // namespace headscope::attention

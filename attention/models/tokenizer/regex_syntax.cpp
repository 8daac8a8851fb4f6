#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/pattern.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kSpace = "\\p{Z}\\t-\\r\\x{85}";
constexpr std::string_view kWord = "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}";

class Translator {
 public:
  explicit Translator(std::string_view expression) : from_(expression) {}

  Result<std::string> translate() {
    while (at_ < from_.size() && problem_.empty()) step();
    if (problem_.empty() && inClass_) refuse("an unclosed class");
    if (!problem_.empty()) return Error{problem_};
    return std::move(to_);
  }

 private:
  bool startsWith(std::string_view text) const { return from_.substr(at_).starts_with(text); }
  void copy(std::size_t count) {
    to_ += from_.substr(at_, count);
    at_ += count;
  }
  void write(std::string_view text, std::size_t passed) {
    to_ += text;
    at_ += passed;
  }
  void refuse(std::string_view what) {
    if (problem_.empty())
      problem_ = fmt::format("the expression {} has {} at byte {}, which is not supported here",
                             quotedText(from_), what, at_);
  }

  void step() {
    if (from_[at_] == '\\') return escape();
    if (inClass_) return insideClass();
    switch (from_[at_]) {
      case '[':
        return beginClass();
      case '(':
        return group();
      case '{':
        return interval();
      // Oniguruma's ^ and $ match at every line feed; PCRE2's do so only in multi-line mode.
      case '^':
        return write("(?m:^)", 1);
      case '$':
        return write("(?m:$)", 1);
      default:
        return copy(1);
    }
  }

  void beginClass() {
    inClass_ = true;
    copy(startsWith("[^") ? 2 : 1);
    if (startsWith("]")) refuse("a class that begins with \"]\"");
  }

  void insideClass() {
    if (startsWith("&&")) return refuse("\"&&\"");
    if (from_[at_] == '[') return beginInnerClass();
    if (from_[at_] == ']' && inInnerClass_) {
      inInnerClass_ = false;
      ++at_;
      return startsWith("-") ? refuse("a \"-\" after a class") : void();
    }
    inClass_ = from_[at_] != ']';
    copy(1);
  }

  /// The members of a class inside a class belong to the outer one; PCRE2 would read its bracket as a member.
  void beginInnerClass() {
    const bool plain = !startsWith("[^") && !startsWith("[:") && !startsWith("[]") && !startsWith("[-");
    if (inInnerClass_ || !plain || to_.ends_with('-')) return refuse("a class inside a class");
    inInnerClass_ = true;
    ++at_;
  }

  void group() {
    constexpr std::array<std::string_view, 7> kGroups = {"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    for (const std::string_view group : kGroups)
      if (startsWith(group)) return copy(group.size());
    // Elsewhere the two syntaxes disagree on how far a flag reaches.
    if (at_ == 0 && startsWith("(?i)")) return copy(4);
    if (startsWith("(?") || startsWith("(*")) return refuse(quotedText(from_.substr(at_, 4)));
    copy(1);
  }

  void interval() {
    const std::size_t close = from_.find('}', at_);
    const std::string_view inside = from_.substr(at_ + 1, close - std::min(close, at_) - 1);
    const bool counts = close != std::string_view::npos && !inside.empty() && std::isdigit(inside[0]) &&
                        std::all_of(inside.begin(), inside.end(),
                                    [](unsigned char c) { return std::isdigit(c) || c == ','; });
    if (!counts) return refuse("\"{\"");
    copy(inside.size() + 2);
    if (startsWith("+")) refuse("\"}+\"");
  }

  void escape() {
    const char c = at_ + 1 < from_.size() ? from_[at_ + 1] : '\0';
    switch (c) {
      case 's':
        return classEscape(kSpace, false);
      case 'S':
        // PCRE2 counts U+180E, which left the white space in Unicode 6.3, as a space.
        return inClass_ ? write("\\S\\x{180E}", 2) : classEscape(kSpace, true);
      case 'w':
        return classEscape(kWord, false);
      case 'W':
        return inClass_ ? refuse("\"\\W\" in a class") : classEscape(kWord, true);
      case 'v':
        return write("\\x{0B}", 2);
      case 'p':
      case 'P':
        return property();
      case 'u':
      case 'x':
        return codePoint();
      case 'b':
        return inClass_ ? write("\\x{08}", 2) : refuse("\"\\b\"");
      default:
        break;
    }
    constexpr std::string_view kSame = "rntfaedDAzZ";
    if (c != '\0' &&
        (kSame.find(c) != std::string_view::npos || std::ispunct(static_cast<unsigned char>(c)) || c == ' '))
      return copy(2);
    refuse(quotedText(from_.substr(at_, 2)));
  }

  void classEscape(std::string_view members, bool negated) {
    if (inClass_) return write(members, 2);
    write(negated ? "[^" : "[", 2);
    to_ += members;
    to_ += ']';
  }

  void property() {
    const std::size_t close = from_.find('}', at_);
    if (at_ + 2 >= from_.size() || from_[at_ + 2] != '{' || close == std::string_view::npos)
      return refuse(quotedText(from_.substr(at_, 4)));
    copy(close + 1 - at_);
  }

  /// Translates \xHH, \x{H…} and \uHHHH.
  void codePoint() {
    const bool braces = startsWith("\\x{");
    const std::size_t begin = at_ + (braces ? 3 : 2);
    const std::size_t close = braces ? from_.find('}', at_) : begin + (from_[at_ + 1] == 'x' ? 2 : 4);
    if (close == std::string_view::npos || close > from_.size() || close == begin || close > begin + 8)
      return refuse(quotedText(from_.substr(at_, 6)));
    const std::string_view digits = from_.substr(begin, close - begin);
    if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); }))
      return refuse(quotedText(from_.substr(at_, 6)));
    to_ += fmt::format("\\x{{{}}}", digits);
    at_ = close + (braces ? 1 : 0);
  }

  std::string_view from_;
  std::size_t at_ = 0;
  bool inClass_ = false, inInnerClass_ = false;
  std::string to_, problem_;
};

}  // namespace

Result<std::string> pcre2Expression(std::string_view expression) {
  return Translator(expression).translate();
}

}  // namespace headscope::attention

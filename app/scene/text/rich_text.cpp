#include "app/scene/text/rich_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using SpanKind = RichSpan::Kind;

namespace {

std::optional<SpanKind> kindNamed(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, SpanKind>, 4> kKinds{{{"query", SpanKind::query},
                                                                         {"key", SpanKind::key},
                                                                         {"value", SpanKind::value},
                                                                         {"mark", SpanKind::mark}}};
  for (const auto& [word, kind] : kKinds)
    if (word == name) return kind;
  return std::nullopt;
}

class RichParser {
 public:
  explicit RichParser(std::string_view text) : text_(text) {}

  Result<RichText> parse() {
    while (at_ < text_.size() && error_.empty()) step();
    flush();
    endParagraph();
    if (boldFrom_) fail(fmt::format("** at {} doesn't close", here(*boldFrom_)));
    if (!error_.empty()) return Error{error_};
    return std::move(all_);
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  /// Quotes the beginning of the wrong part, so that people can find it.
  std::string here(std::size_t from) const {
    return attention::quotedText(text_.substr(from, std::min<std::size_t>(24, text_.size() - from)));
  }

  void flush() {
    if (words_.empty()) return;
    paragraph_.push_back({boldFrom_ ? SpanKind::bold : SpanKind::plain, std::exchange(words_, {}), nullptr});
  }
  void endParagraph() {
    if (!paragraph_.empty()) all_.push_back(std::exchange(paragraph_, {}));
  }

  void step() {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) {
      words_ += text_[at_ + 1];
      at_ += 2;
    } else if (c == '\n') {
      newLine();
    } else if (c == '`') {
      between("`", SpanKind::code);
    } else if (text_.substr(at_, 2) == "**") {
      flush();
      boldFrom_ = boldFrom_ ? std::nullopt : std::optional(at_);
      at_ += 2;
    } else if (c == '$') {
      between("$", SpanKind::formula);
    } else if (c == '[') {
      coloured();
    } else {
      words_ += c;
      ++at_;
    }
  }

  void newLine() {
    std::size_t lines = 0;
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == ' ')) lines += text_[at_++] == '\n';
    if (lines == 1) {
      words_ += ' ';
      return;
    }
    flush();
    endParagraph();
  }

  void between(std::string_view sign, SpanKind kind) {
    const std::size_t start = at_ + sign.size(), end = text_.find(sign, start);
    if (end == std::string_view::npos) return fail(fmt::format("{} at {} doesn't close", sign, here(at_)));
    flush();
    RichSpan span{kind, std::string(text_.substr(start, end - start)), nullptr};
    at_ = end + sign.size();
    if (kind == SpanKind::formula) {
      Result<FormulaNode> formula = parseFormula(span.text);
      if (!formula) return fail(formula.error().message);
      span.formula = std::make_shared<const FormulaNode>(*std::move(formula));
    }
    paragraph_.push_back(std::move(span));
  }

  /// Reads [words](query). A bracket without a word in parentheses after it is a literal bracket.
  void coloured() {
    if (lastClose_ != std::string_view::npos && lastClose_ <= at_) lastClose_ = text_.find(']', at_);
    const std::size_t close = lastClose_;
    if (close == std::string_view::npos || close + 1 >= text_.size() || text_[close + 1] != '(') {
      words_ += text_[at_++];
      return;
    }
    const std::size_t end = text_.find(')', close);
    if (end == std::string_view::npos) return fail(fmt::format("( at {} doesn't close", here(at_)));
    const std::string_view name = text_.substr(close + 2, end - close - 2);
    const auto kind = kindNamed(name);
    if (!kind)
      return fail(
          fmt::format("{} follows […], expected query, key, value or mark", attention::quotedText(name)));
    flush();
    paragraph_.push_back({*kind, std::string(text_.substr(at_ + 1, close - at_ - 1)), nullptr});
    at_ = end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::size_t> boldFrom_;  ///< where the bold type began
  std::size_t lastClose_ = 0;  ///< the next closing bracket, as far as searched; npos = there is none
  std::string words_, error_;
  std::vector<RichSpan> paragraph_;
  RichText all_;
};

}  // namespace

Result<RichText> parseRichText(std::string_view text) {
  return RichParser(text).parse();
}

}  // namespace headscope::app
